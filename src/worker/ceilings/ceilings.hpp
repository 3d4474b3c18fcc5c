// Measures what this machine can do at most.
#pragma once

#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>

#include "common/base/result.hpp"
#include "common/model/ceilings.hpp"
#include "worker/toolchain/toolchain.hpp"

namespace kernelpro {

struct CeilingSettings {
  std::filesystem::path cache;   // cached as <cache>/ceilings/<machine key>.json
  std::filesystem::path source;  // share/kernelpro/ceilings/cpu.cpp, built for the probed target
  bool refresh = false;          // measure again even when cached
  int repeats = 7;
};

// Read, write, copy and triad bandwidth over arrays of at least four times the last-level cache,
// and FMA throughput in f32 and f64; at one thread and at all. Takes the machine's timing lock.
// About five seconds when not cached.
[[nodiscard]] Result<Ceilings> measure_ceilings(const Toolchain& toolchain,
                                                const CeilingSettings& settings,
                                                std::stop_token stop = {});

}  // namespace kernelpro
