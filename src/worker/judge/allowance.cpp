#include "worker/judge/allowance.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kernelpro {

namespace {

constexpr double times_the_baseline = 60;
constexpr double most_excused = 0.5;

}  // namespace

Allowance::Allowance(std::int64_t least_ms, double (*stolen)())
    : stolen_(stolen),
      least_ns_(static_cast<double>(least_ms) * 1e6),
      given_ns_(least_ns_),
      stolen_before_(stolen()) {}

void Allowance::give_for(double baseline_ns, double times) {
  given_ns_ += times_the_baseline * times * std::max(baseline_ns, 0.0);
}

void Allowance::take(double waited_ns, double delayed_ns) {
  waited_ns_ += waited_ns;
  taken_ns_ += waited_ns - std::clamp(delayed_ns, 0.0, most_excused * waited_ns);
}

// The hypervisor takes from all processors together, most from who keeps most of them busy: beside
// what was excused already, no more of it than comes to half of all waits.
void Allowance::excuse_stolen() {
  const double room_ns = taken_ns_ - (1 - most_excused) * waited_ns_;
  const double excused_ns = std::clamp(stolen_() - stolen_before_, 0.0, std::max(room_ns, 0.0));
  taken_ns_ -= excused_ns;
  stolen_before_ += excused_ns;
}

std::int64_t Allowance::cut(std::int64_t wanted_ms) {
  const auto most_ms = [this] {
    const double most_ns = (given_ns_ - taken_ns_) / (1 - most_excused);
    return static_cast<std::int64_t>(std::clamp(most_ns / 1e6, 0.0, 1e15)) + 1;
  };
  if (most_ms() < wanted_ms) {
    excuse_stolen();
  }
  return std::min(wanted_ms, most_ms());
}

bool Allowance::spent() {
  if (taken_ns_ <= given_ns_) {
    return false;
  }
  // Asked for only where little is left, because it takes tens of microseconds.
  excuse_stolen();
  return taken_ns_ > given_ns_;
}

Failure Allowance::failure() const {
  return {Outcome::timed_out,
          "",
          fmt::format("all its calls together kept the judge waiting for {:.0f} s, and {:.0f} s "
                      "are the most",
                      taken_ns_ / 1e9, given_ns_ / 1e9),
          {fmt::format("allowed are {:.0f} s and {:.0f} times what the baseline takes for the same",
                       least_ns_ / 1e9, times_the_baseline)}};
}

}  // namespace kernelpro
