// What the generated files of an export have in common. For the files of this room only.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/certificate.hpp"

namespace kernelpro::report {

// "baseline", or "incumbent" when the certificate compares with something else: the name of the
// rival's source, library and folder.
[[nodiscard]] std::string rival_name(const Certificate& certificate);

// The threads the kernel was timed with; of a certificate that does not say, the machine's cores.
[[nodiscard]] int certified_threads(const Certificate& certificate);

// The task's files that the rival includes, directly or through others, by name.
[[nodiscard]] std::map<std::string, std::string> rival_headers(const Certificate& certificate);

// The extents of the task's axes, in its order; `axes` completed.
[[nodiscard]] std::vector<std::int64_t> axis_values(const Task& task, const Axes& axes);

// A certificate is foreign text. As part of a comment: no control characters, no backslash at the
// end. As a C++ string literal, quotes included. As one word of a shell command.
[[nodiscard]] std::string comment_text(std::string_view text);
[[nodiscard]] std::string cpp_literal(std::string_view text);
[[nodiscard]] std::string shell_word(std::string_view text);

[[nodiscard]] std::string build_script(const Certificate& certificate);
[[nodiscard]] Result<std::string> bench_source(const Certificate& certificate);
[[nodiscard]] Result<std::string> export_readme(const Certificate& certificate);

}  // namespace kernelpro::report
