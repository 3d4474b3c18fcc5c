// Verdicts and certificates for people.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/model/certificate.hpp"
#include "common/model/orders.hpp"

namespace kernelpro {

// "cheated: clock", "passed", "passed (suspect)", "passed (unverified)".
[[nodiscard]] std::string outcome_text(const Verdict& verdict);

// "m=512 n=512"; of a task with one size only: "its own".
[[nodiscard]] std::string axes_text(const Axes& axes);

// Everything about one evaluation: outcome, evidence, timing by shape.
[[nodiscard]] std::string evaluation_text(const Evaluated& evaluated);

// One line a candidate: outcome, rule, time, speed-up with interval, share of the bound.
[[nodiscard]] std::string verdict_table(const std::vector<Evaluated>& evaluations);

// What differs between a certificate and its repetition: machine, tools, binaries, verdict, timing.
struct Difference {
  std::string what;
  std::string before;
  std::string now;
  bool matters = false;  // the verdict or the comparison differ, not only the circumstances
};

// What a repetition says of a certificate's speed-up. `cannot_tell`: the intervals overlap, but one
// is so wide (over 10 % of its speed-up) that this says little; or the repetition gives less, but
// only as the least that it can be.
enum class SpeedClaim { not_timed, confirmed, differs, cannot_tell };

[[nodiscard]] std::string_view name_of(SpeedClaim claim);
[[nodiscard]] SpeedClaim compare_speed(const Timing& before, const Timing& now);

// The 95 % interval's width over the speed-up; 0: not timed.
[[nodiscard]] double interval_width(const Timing& timing);

[[nodiscard]] std::vector<Difference> compare_certificates(const Certificate& before,
                                                           const Certificate& now);

}  // namespace kernelpro
