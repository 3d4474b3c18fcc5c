// Sums over a kernel's instructions, above all those that touch memory, and the lines they stand
// at.
#pragma once

#include <functional>
#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include "common/model/profile.hpp"

namespace kernelpro {

inline constexpr double sector_bytes = 32;
inline constexpr double sectors_a_turn = 4;  // of L1

[[nodiscard]] bool is_one_of(Access access, std::initializer_list<Access> list);

// Of CodeFacts::mix; 0 where there is none of it.
[[nodiscard]] double amount(const CodeFacts& code, const char* kind);

[[nodiscard]] bool is_shared(const MemoryInstruction& instruction);

// Global or local memory: behind L1, and slow to answer. Constants have a cache of their own.
[[nodiscard]] bool is_far(const MemoryInstruction& instruction);

using Which = std::function<bool(const MemoryInstruction&)>;

// How often they were executed, by warps.
[[nodiscard]] double requests(const CodeFacts& code, const Which& which);

// Turns that L1 and shared memory need for this access, and for these: counted for shared memory,
// for the others four sectors a turn and one turn a request at least; none for constants.
[[nodiscard]] double l1_turns_of(const MemoryInstruction& instruction);
[[nodiscard]] double l1_turns(const CodeFacts& code, const Which& which);

// The loads from global memory that are under way at once where most of them are executed: in a
// loop, or outside of loops, where all of them may be.
struct LoadsInFlight {
  double loads = 0;     // as wide as the widest; one that asks for fewer sectors counts as less
  double together = 0;  // loads, each counted as one
  bool in_loop = false;
  double weight = 0;  // load instructions executed there
  SourcePlace place;
};
[[nodiscard]] LoadsInFlight hottest_loads(const CodeFacts& code);

// Matrix instructions fed by asynchronous copies: the kernel keeps a large tile in registers and
// hides its latencies by a pipeline of its own, with few warps.
[[nodiscard]] bool is_matrix_pipeline(const KernelProfile& kernel);

// The lines with most of something: at most three, most first, those without a line left out.
using Weighed = std::vector<std::pair<double, SourcePlace>>;
[[nodiscard]] std::vector<SourcePlace> top_places(const Weighed& weighed);

// The lines with most samples of these reasons.
[[nodiscard]] std::vector<SourcePlace> top_stalled_places(
    const KernelProfile& kernel, std::initializer_list<std::string_view> reasons);

// The share of all samples at the source lines of these instructions, or at the instructions
// themselves where there are no lines.
[[nodiscard]] double sample_share_at(const KernelProfile& kernel, const CodeFacts& code,
                                     const Which& which);

}  // namespace kernelpro
