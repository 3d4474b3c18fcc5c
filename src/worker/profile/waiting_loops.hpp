// Loops that wait for other threads: at a flag, for a lock, at a barrier.
#pragma once

#include <set>
#include <vector>

#include "worker/profile/code_loops.hpp"
#include "worker/profile/instruction.hpp"
#include "worker/profile/operands.hpp"

namespace kernelpro {

// By their place among the loops.
struct WaitingLoops {
  std::set<int> polls;  // those that look at memory until it changes
  std::set<int> all;    // and those that try again, by atomics or at a barrier in shared memory
};

[[nodiscard]] WaitingLoops find_waiting_loops(const std::vector<Instruction>& code,
                                              const std::vector<DecodedInstruction>& decoded,
                                              const CodeLoops& loops);

// Whether it looks past what a cache holds.
[[nodiscard]] bool reads_fresh_value(const Instruction& one, const DecodedInstruction& decoded);

}  // namespace kernelpro
