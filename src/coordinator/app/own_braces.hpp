// Braces that a rewriter put around one statement. For own_layout.cpp only.
#pragma once

#include <string>
#include <vector>

#include "coordinator/task/token_list.hpp"

namespace kernelpro {

// `rewritten` without the braces around a body of one statement, where the original has that body
// without braces.
[[nodiscard]] std::string without_new_braces(const std::string& original,
                                             const std::string& rewritten);

// What tokens are compared by: `for` of a pragma is not the `for` of a loop.
[[nodiscard]] std::vector<std::string> told_apart(const Tokens& tokens);

}  // namespace kernelpro
