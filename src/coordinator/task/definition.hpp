// The definition of a function, found in the tokens of its file.
#pragma once

#include <cstddef>
#include <string>

#include "common/base/result.hpp"
#include "coordinator/task/token_list.hpp"

namespace kernelpro {

struct Definition {
  std::string function;  // with its namespaces
  Tokens before;         // return type and specifiers
  Tokens parameters;     // between the parentheses
  int line = 0;
  std::size_t first = 0;   // where it is first declared or defined
  bool c_linkage = false;  // said by the definition or a declaration
};

// The one definition of `entry` outside of classes. An error names what is defined instead; `file`
// is only named there.
[[nodiscard]] Result<Definition> find_definition(const Tokens& tokens, const std::string& entry,
                                                 const std::string& file);

}  // namespace kernelpro
