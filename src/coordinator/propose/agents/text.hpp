// Small things that the agents do with text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kernelpro::agents {

[[nodiscard]] std::string trimmed(const std::string& text);

// Without their ends; a carriage return before an end goes with it.
[[nodiscard]] std::vector<std::string> lines_of(const std::string& text);

// With blanks in the place of line ends and runs of blanks.
[[nodiscard]] std::string one_line(const std::string& text);

// At most that many bytes, never a part of a UTF-8 character; "…" where something was cut.
[[nodiscard]] std::string shortened(const std::string& text, std::size_t most);

// A code block whose fence is longer than any in the text.
[[nodiscard]] std::string fenced(std::string_view language, const std::string& text);

// "candidate" or "candidates" and the like, by the count.
[[nodiscard]] std::string counted(std::size_t count, const std::string& noun);

[[nodiscard]] std::string duration_text(double nanoseconds);  // "12.3 us"
[[nodiscard]] std::string bytes_text(double bytes);           // "50 MiB"
[[nodiscard]] std::string amount_text(double value);          // "1.07e+09"; whole ones as they are
[[nodiscard]] std::string factor_text(double factor);         // "1.84"

}  // namespace kernelpro::agents
