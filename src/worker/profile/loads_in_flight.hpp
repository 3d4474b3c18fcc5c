// How many loads from global memory a loop has under way at once.
#pragma once

#include <vector>

#include "worker/profile/code_loops.hpp"
#include "worker/profile/instruction.hpp"
#include "worker/profile/operands.hpp"

namespace kernelpro {

// Of the loads that lie in `loop` itself and not in loops inside it: the most that are issued and
// not yet waited for. A load into registers is waited for where one of them is read or written
// again, and with it all that were issued before it; an asynchronous copy where its group is waited
// for; a bulk copy where any mbarrier is. Goes through several turns, as a loop may load for its
// next ones.
[[nodiscard]] int loads_in_flight(const std::vector<Instruction>& code,
                                  const std::vector<DecodedInstruction>& decoded,
                                  const CodeLoops& loops, int loop);

// A load from global memory, whatever it goes through.
[[nodiscard]] bool is_global_load(const Instruction& instruction, OpKind kind);

}  // namespace kernelpro
