// Text that a terminal shows and does not obey.
#pragma once

#include <string>

namespace kernelpro {

// Without control characters and those that turn the direction of text: names, source lines, and
// what candidates and models say come from programs that nobody vouches for, and a terminal obeys
// some of them. Ends of lines and tabs become blanks.
[[nodiscard]] std::string printable(const std::string& text);

// The same with ends of lines and tabs as they are.
[[nodiscard]] std::string printable_lines(const std::string& text);

}  // namespace kernelpro
