// A device's own energy counter.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "common/base/result.hpp"

namespace kernelpro {

class EnergyMeter {
 public:
  virtual ~EnergyMeter() = default;
  // Which counter, for people.
  [[nodiscard]] virtual std::string name() const = 0;
  // Joules since some moment in the past: never less than before. Counters move in steps. One
  // thread at a time may ask.
  [[nodiscard]] virtual Result<double> joules() = 0;
  // How often to ask, so that a step is seen soon after it comes and asking disturbs nobody.
  [[nodiscard]] virtual std::int64_t poll_ns() const = 0;
  // For the record, as far as it is known at this moment: "power_limit_watts", "gpu_sm_mhz".
  [[nodiscard]] virtual std::map<std::string, double> circumstances() = 0;
};

}  // namespace kernelpro
