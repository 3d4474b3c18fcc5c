// A rewritten source in the layout of the file that it came from.
#pragma once

#include <string>

namespace kernelpro {

// The tokens of `rewritten` in the layout of `original` wherever both have the same; comments of
// the original stay with the tokens behind them, and none comes more often than there. Braces
// around one statement that the original has not are left out.
[[nodiscard]] std::string in_layout_of(const std::string& original, const std::string& rewritten);

// Whether both have the same tokens.
[[nodiscard]] bool same_program(const std::string& one, const std::string& other);

}  // namespace kernelpro
