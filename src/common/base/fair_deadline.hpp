// A deadline by the time that this machine had: what its hypervisor gave to others does not count.
//
// On a virtual machine that is starved for a while, a call of a second takes ten. Whoever is held
// to two seconds is not to blame for that.
#pragma once

#include <cstdint>

namespace kernelpro {

class FairDeadline {
 public:
  // It never lies later than this many times the limit.
  static constexpr std::int64_t most_stretch = 10;

  using Stolen = double (*)();  // as stolen_ns

  // From now on. `stolen_before`: what had been stolen by then, read by the caller, since that
  // takes tens of microseconds; negative: it is a deadline as any other.
  FairDeadline(std::int64_t timeout_ms, double stolen_before, Stolen stolen);
  FairDeadline(std::int64_t timeout_ms, double stolen_before);

  // Looks for what was stolen only when the limit is reached, and then moves.
  [[nodiscard]] bool passed();
  [[nodiscard]] bool passed_at(std::int64_t now_ns);

 private:
  std::int64_t limit_ns_;
  double stolen_before_;
  Stolen stolen_;
  std::int64_t start_ns_;
  std::int64_t end_ns_;
};

}  // namespace kernelpro
