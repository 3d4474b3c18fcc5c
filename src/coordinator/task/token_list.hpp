// Questions about a piece of source that is read as tokens.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "coordinator/task/lexer.hpp"

namespace kernelpro {

using Tokens = std::vector<Token>;

// With no more blanks than words need.
[[nodiscard]] std::string joined(const Tokens& tokens);

[[nodiscard]] bool contains(const Tokens& tokens, const std::string& text);

// Where the bracket opened at `open` closes; tokens.size() when it never does.
[[nodiscard]] std::size_t closing(const Tokens& tokens, std::size_t open);

[[nodiscard]] bool is_macro_name(const std::string& word);

// Without [[attributes]] and __attribute__((…)), wherever they stand.
[[nodiscard]] Tokens without_attributes(const Tokens& tokens);

}  // namespace kernelpro
