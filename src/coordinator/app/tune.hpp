// The tunables of one source, tuned: a worker judges every program, no model is asked.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/orders.hpp"
#include "common/model/workers.hpp"
#include "coordinator/app/candidate_file.hpp"
#include "coordinator/app/progress.hpp"

namespace kernelpro {

struct TuneRequest {
  std::string task;
  std::string source;
  BuildWishes build;
  JudgingSettings judging;
  Workers workers;
  std::vector<std::string> allow_precision;
  int evaluations =
      60;  // distinct programs judged, the source as it is and the last check included
  std::uint64_t seed = 1;
  std::filesystem::path into;  // file that the tuned source is written to; empty: it is not
};

// One program that was tried.
struct Tuned {
  std::string values;  // "BLOCK = 16, TILE = 4"
  Outcome outcome = Outcome::not_judged;
  double speedup = 0;  // over the source as it was given, or over the baseline where that fails
  std::string summary;
  bool duplicate = false;  // the machine code of an earlier one, which was not judged again
};

struct TuneResult {
  std::vector<Tuned> tried;  // in their order; the first is the source as it was given
  std::size_t best = 0;      // in `tried`
  int evaluations = 0;
  bool over_baseline = false;          // the source as it was given does not pass
  std::optional<Evaluated> confirmed;  // the best against the source on fresh inputs
  std::string source;                  // with the best values
};

// Errors: no tunables, or too few evaluations for anything; a stop. What was found until then is
// lost with them.
[[nodiscard]] Result<TuneResult> tune(const TuneRequest& request, const Watcher& watcher,
                                      std::stop_token stop);

[[nodiscard]] nlohmann::json to_json(const TuneResult& result);

}  // namespace kernelpro
