// Candidates judged: here, or by a bundle that somebody carries to a worker.
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
#include "coordinator/app/kept_worker.hpp"
#include "coordinator/app/machine_load.hpp"
#include "coordinator/app/progress.hpp"

namespace kernelpro {

struct EvaluationRequest {
  std::string task;                  // a name, folder or task.toml
  std::vector<std::string> sources;  // files, or the task's own implementations by name
  std::string incumbent;             // a file; empty: the baseline
  BuildWishes build;
  JudgingSettings judging;
  Workers workers;  // here, or by a bundle
  std::vector<std::string> allow_precision;
  bool timed = true;
  bool energy = false;
  bool foreign = false;  // the sources came from elsewhere: nothing beside them is read for them
  std::filesystem::path certificates;  // folder that they are written to; empty: they are not
  KeptWorker* kept = nullptr;          // who judges by one worker here; null: another each time
};

struct EvaluationResult {
  std::vector<Evaluated> evaluations;  // in the order of the sources; what was judged
  std::optional<Error> error;          // what went wrong beside them
  std::optional<MachineLoad> load;     // of this machine, before
  bool waiting = false;                // for the results of a bundle: the same request reads them
};

// An error when nothing was judged. A stop is an error, here or within the result.
[[nodiscard]] Result<EvaluationResult> evaluate(const EvaluationRequest& request,
                                                const Watcher& watcher, std::stop_token stop);

[[nodiscard]] nlohmann::json to_json(const EvaluationResult& evaluation);

}  // namespace kernelpro
