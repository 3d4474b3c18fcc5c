// What tools ask of the patterns in a kernel's machine code.
#pragma once

#include "worker/diagnose/tools/evidence.hpp"

namespace kernelpro {

// The pattern of this name; all zero where the code has none of it, or was not searched.
[[nodiscard]] CodePattern pattern(const CodeFacts& code, const char* name);

// Notes as missing that nobody searched the code.
void need_patterns(const CodeFacts& code, Evidence& evidence);

// Notes as missing that there are too few samples, or none.
void need_samples(Evidence& evidence);

// Of all samples of the kernel.
[[nodiscard]] double sample_share(const KernelProfile& kernel, double samples);

// One at least.
[[nodiscard]] double threads_of_block(const KernelProfile& kernel);

// The share of the samples in loops that poll, and at barriers behind those who poll. One warp that
// polls makes the others of its block wait as long as it looks, and no longer.
[[nodiscard]] double polling_share(const KernelProfile& kernel, const CodeFacts& code);

// The share of the samples that wait for memory, other warps or the end of stores: what a kernel
// computes takes none of it.
[[nodiscard]] double share_of_other_waits(Evidence& evidence);

// Whether some warps poll: what others wait for at barriers and in queues is memory_fences' then.
[[nodiscard]] bool polls(const KernelProfile& kernel, const Thresholds& limits);

// Whether most of what is read from global memory is asked for past L1: by volatile or acquiring
// loads, or by atomics that change nothing. Those are memory_fences', not too few, too narrow, for
// the same address or too many bytes.
[[nodiscard]] bool reads_past_l1(const CodeFacts& code);

// Whether most loads from global memory have an address that their loop has loaded before: those
// are repeated_loads', not too few or too narrow.
[[nodiscard]] bool loads_again(const CodeFacts& code);

}  // namespace kernelpro
