// The power that a GPU draws, as the driver's management library (NVML) tells.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

namespace kernelpro {

// Watts, one reading every 50 ms for `duration_ms`, of the GPU with that UUID; empty when NVML is
// not there or does not know. Cut short when stopped.
[[nodiscard]] std::vector<double> power_readings(const std::string& uuid, std::int64_t duration_ms,
                                                 const std::stop_token& stop);

}  // namespace kernelpro
