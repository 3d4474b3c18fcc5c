// Runs kernels on several threads at once, each pinned where possible, each on memory of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <vector>

#include "common/base/result.hpp"

namespace kernelpro {

// The form of the kernels in share/kernelpro/ceilings; the result is the work done.
using CeilingKernel = double (*)(double* a, double* b, double* c, std::size_t n);

struct KernelRun {
  CeilingKernel kernel = nullptr;
  std::size_t arrays = 0;  // how many arrays share a thread's memory; 0: it touches none
};

struct TeamSettings {
  std::vector<int> processors;    // one thread on each
  std::int64_t memory_bytes = 0;  // of all threads together
  int repeats = 1;
};

// For each kernel the work per nanosecond of all threads together, one entry a repeat, never none.
// Every thread touches its memory first, starts each repeat with the others, and has one repeat to
// warm up. A repeat in which a thread lost its processor to somebody else does not count and is
// made again, up to three times as many in all. When none was undisturbed, all count, at the rates
// that the threads had while they ran: rather too high than too low.
// Errors: `environment` when threads or memory are refused, `interrupted`.
[[nodiscard]] Result<std::vector<std::vector<double>>> run_team(const TeamSettings& settings,
                                                                const std::vector<KernelRun>& runs,
                                                                std::stop_token stop);

}  // namespace kernelpro
