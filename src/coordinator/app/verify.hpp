// What a certificate claims, repeated; or what became of its source since.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/orders.hpp"
#include "coordinator/app/progress.hpp"
#include "coordinator/report/verdict_text.hpp"

namespace kernelpro {

struct VerifyRequest {
  std::filesystem::path certificate;
  // What the source is today, judged beside the certificate's; empty: the certificate's once more.
  std::string source;
  double fail_below = 0;  // of the certificate's speed
  // Backend and caches are as the certificate says; so are the threads, unless they are given.
  JudgingSettings judging;
};

// The speed now over the certificate's: of two sources side by side, or of two speed-ups.
struct KeptSpeed {
  double ratio = 0;
  Interval interval;  // 95 %
  double asked = 0;
  bool at_least = false;  // the machine was busy: it may be more

  [[nodiscard]] bool too_little() const { return interval.high < asked; }
};

struct Verification {
  Certificate before;
  Evaluated now;
  std::vector<Difference> differences;
  SpeedClaim speed = SpeedClaim::not_timed;
  std::optional<KeptSpeed> kept;  // where it was asked about and both were timed
  bool holds = true;              // no difference matters; nothing was asked that is not kept
  // It does not hold, and why proves nothing: by its speed alone, which was measured too coarsely
  // to tell, or by a failure on values that an older generator drew.
  bool undecided = false;
  bool other_values = false;  // by such a failure
};

[[nodiscard]] Result<Verification> verify(const VerifyRequest& request, const Watcher& watcher,
                                          std::stop_token stop);

[[nodiscard]] nlohmann::json to_json(const Verification& verification);

}  // namespace kernelpro
