// What a certificate claims, repeated.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <stop_token>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/orders.hpp"
#include "coordinator/app/progress.hpp"
#include "coordinator/report/verdict_text.hpp"

namespace kernelpro {

struct VerifyRequest {
  std::filesystem::path certificate;
  // Backend and caches are as the certificate says; so are the threads, unless they are given.
  JudgingSettings judging;
};

struct Verification {
  Certificate before;
  Evaluated now;
  std::vector<Difference> differences;
  SpeedClaim speed = SpeedClaim::not_timed;
  bool holds = true;       // no difference matters
  bool undecided = false;  // only the comparison does, and it was measured too coarsely to tell
};

[[nodiscard]] Result<Verification> verify(const VerifyRequest& request, const Watcher& watcher,
                                          std::stop_token stop);

[[nodiscard]] nlohmann::json to_json(const Verification& verification);

}  // namespace kernelpro
