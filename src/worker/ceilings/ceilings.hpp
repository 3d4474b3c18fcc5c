// Measures what this machine can do at most.
#pragma once

#include <filesystem>
#include <stop_token>

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

// Read, write, copy and triad bandwidth over at least four times the last-level cache (an eighth of
// the memory at most), and FMA throughput in f32 and f64; at one thread and at all. About five
// seconds when not cached. Takes the machine's timing lock for that: a caller that holds it would
// wait for itself. A cache file that cannot be read or is incomplete is measured again.
[[nodiscard]] Result<Ceilings> measure_ceilings(const Toolchain& toolchain,
                                                const CeilingSettings& settings,
                                                const std::stop_token& stop = {});

}  // namespace kernelpro
