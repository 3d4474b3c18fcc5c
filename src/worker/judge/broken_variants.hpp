// Variants of a task's baseline that a fit tolerance tells apart: honest ones and broken ones.
#pragma once

#include <vector>

#include "common/model/candidate.hpp"
#include "common/model/task.hpp"
#include "worker/toolchain/toolchain.hpp"

namespace kernelpro {

struct Variant {
  Candidate candidate;
  bool honest = true;
};

// For each CPU baseline of the task. Honest: as it is, at -O3 with fast-math, and built by the
// other compilers. Broken: its outputs with one element zeroed, the last element left unwritten,
// all scaled by 1.001, or computed from inputs rounded to bf16; an index output moved to its
// neighbor.
[[nodiscard]] std::vector<Variant> baseline_variants(const Task& task, const Toolchain& toolchain);

}  // namespace kernelpro
