// A processor's energy counters (RAPL) as Linux shows them.
#pragma once

#include <filesystem>
#include <memory>

#include "worker/judge/energy_meter.hpp"

namespace kernelpro {

// /sys/class/powercap, or what KERNELPRO_POWERCAP names.
[[nodiscard]] std::filesystem::path powercap_folder();

// The packages under `folder`, summed: cores and caches, on most machines without the memory. An
// environment error says why there is none.
[[nodiscard]] Result<std::unique_ptr<EnergyMeter>> open_rapl(const std::filesystem::path& folder);

}  // namespace kernelpro
