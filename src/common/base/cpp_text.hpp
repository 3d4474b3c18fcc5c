// C++ source as text: what stands in it that is no code.
#pragma once

#include <cstddef>
#include <string_view>

namespace kernelpro {

// Behind the comment, string (a raw one from its R on) or character that starts at `at`; `at`
// itself where none does, as at a quote between digits. A comment to the end of its line ends
// before that. What is never closed ends with its line or, a comment or raw string, with the
// source.
[[nodiscard]] std::size_t behind_quoted(std::string_view source, std::size_t at);

}  // namespace kernelpro
