// What the driver's management library (NVML) tells of a GPU: power, clocks, who uses it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "worker/judge/energy_meter.hpp"

namespace kernelpro {

// Watts, one reading every 50 ms for `duration_ms`, of the GPU with that UUID; empty when NVML is
// not there or does not know. Cut short when stopped.
[[nodiscard]] std::vector<double> power_readings(const std::string& uuid, std::int64_t duration_ms,
                                                 const std::stop_token& stop);

struct GpuState {
  unsigned sm_mhz = 0;
  unsigned memory_mhz = 0;
  bool power_capped = false;
  bool slowed_down = false;     // by heat or by the power supply
  std::vector<unsigned> users;  // processes that compute on it, ourselves included
};

// Nothing when NVML is not there or does not know that GPU.
[[nodiscard]] std::optional<GpuState> gpu_state(const std::string& uuid);

// The counter of all energy that the board has taken; an environment error says why there is none.
[[nodiscard]] Result<std::unique_ptr<EnergyMeter>> open_gpu_meter(const std::string& uuid);

}  // namespace kernelpro
