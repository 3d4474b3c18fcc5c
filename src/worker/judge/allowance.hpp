// How long a candidate may keep the judge waiting in all.
//
// Each wait has a deadline of its own. A candidate that nearly misses all of them would hold the
// machine's lock for minutes all the same.
#pragma once

#include <cstdint>

#include "common/base/stolen_time.hpp"
#include "worker/judge/failure.hpp"

namespace kernelpro {

class Allowance {
 public:
  // So much at least, whatever the baseline takes. `stolen`: what the hypervisor took so far.
  explicit Allowance(std::int64_t least_ms, double (*stolen)() = stolen_ns);

  // For what the baseline took for the same work, `times` over: sixty times as long is given.
  void give_for(double baseline_ns, double times = 1);

  // What a wait took, `delayed_ns` of it because others had the processors. At most half of a wait
  // is excused by that, for a candidate's own threads can take them as well.
  void take(double waited_ns, double delayed_ns);

  // The most that a wait may still take, at least one and at most `wanted_ms`: after that nothing
  // is left, whatever of it is excused.
  [[nodiscard]] std::int64_t cut(std::int64_t wanted_ms);

  // Whether nothing is left, not even with what the hypervisor took from this machine meanwhile.
  [[nodiscard]] bool spent();

  // What a candidate is told that spent it.
  [[nodiscard]] Failure failure() const;

 private:
  void excuse_stolen();

  double (*stolen_)();
  double least_ns_;
  double given_ns_;
  double waited_ns_ = 0;
  double taken_ns_ = 0;   // of that, what is not excused
  double stolen_before_;  // what was excused of it, or is older
};

}  // namespace kernelpro
