// The multiply-adds that make a matrix product, told apart from other arithmetic by where their
// operands come from.
#pragma once

#include <vector>

#include "worker/profile/code_loops.hpp"
#include "worker/profile/instruction.hpp"
#include "worker/profile/operands.hpp"

namespace kernelpro {

// For each instruction, whether it is such a step: a floating-point product of two different values
// that were loaded from global or shared memory in its innermost loop, added up in a register from
// turn to turn. Moves and conversions on the way do not matter, arithmetic does.
[[nodiscard]] std::vector<bool> find_dot_steps(const std::vector<Instruction>& code,
                                               const std::vector<DecodedInstruction>& decoded,
                                               const CodeLoops& loops);

}  // namespace kernelpro
