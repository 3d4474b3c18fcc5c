// The loops of machine code, by its backward branches.
#pragma once

#include <vector>

#include "worker/profile/instruction.hpp"

namespace kernelpro {

// A loop as it lies in the code: from the branch's target to the branch.
struct LoopSpan {
  int first = 0;  // indices of instructions, not offsets
  int last = 0;   // the backward branch; of several to one target the last
  int depth = 1;
  int parent = -1;  // the loop around it; -1: none
};

struct CodeLoops {
  std::vector<LoopSpan> loops;  // by their first instruction, outer before inner
  std::vector<int> innermost;   // of each instruction; -1: in none
};

// A branch to itself is the padding behind the last EXIT and no loop; nor is a branch back from
// code that lies apart (the cold side of a condition) and is not reached from its target. Loops
// nested deeper than eight count as part of the eighth.
[[nodiscard]] CodeLoops find_loops(const std::vector<Instruction>& code);

}  // namespace kernelpro
