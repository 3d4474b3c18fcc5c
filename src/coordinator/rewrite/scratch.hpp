// Memory that transformations bring in.
#pragma once

#include <string>

#include "coordinator/rewrite/analysis.hpp"
#include "coordinator/rewrite/program.hpp"

namespace kernelpro {

struct ScratchRequest {
  std::string owner;    // name of what frees it at the end of its scope
  std::string pointer;  // name of the memory itself
  std::string type;     // of its elements
  Expr count;           // of its elements
};

// The statements that bring it into being. What they need is added to the head of the program; it
// includes no heavy header, which would cost more to parse and to build than all the rest.
[[nodiscard]] Body make_scratch(Program& program, const ScratchRequest& request);

}  // namespace kernelpro
