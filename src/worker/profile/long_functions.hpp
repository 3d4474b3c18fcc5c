// Divisions, roots and other functions of many instructions, as they are inlined.
#pragma once

#include <string_view>

#include "worker/profile/instruction.hpp"

namespace kernelpro {

// A function of single or double precision that is inlined: by an instruction that each use of it
// has once, how many there are in all, and in the fast form.
struct LongFunction {
  std::string_view opcode;  // its begin
  std::string_view part;    // of its operands; empty: any
  double steps = 0;
  double fast_steps = 0;
};

// The function that has this instruction once in each use; null: none that is known.
[[nodiscard]] const LongFunction* long_function(const Instruction& instruction);

}  // namespace kernelpro
