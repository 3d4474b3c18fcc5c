// Runs worked on: begun, gone on with, confirmed.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "coordinator/app/machine_load.hpp"
#include "coordinator/app/open_run.hpp"
#include "coordinator/app/progress.hpp"
#include "coordinator/app/prompt_preview.hpp"
#include "coordinator/report/run_report.hpp"

namespace kernelpro {

// How a run stands after it was worked on. Everything is in the store: it can be gone on with
// whatever happened.
struct RunOutcome {
  RunReport report;                 // `report.run.state`: finished, waiting or interrupted
  std::optional<MachineLoad> load;  // of this machine, before
  bool stopped = false;             // as it was asked to
  std::optional<Error> error;       // what else cut it short
};

// An error when there is no run to tell of.
[[nodiscard]] Result<RunOutcome> optimize(const OptimizeRequest& request, const Watcher& watcher,
                                          std::stop_token stop);
[[nodiscard]] Result<RunOutcome> resume(const ResumeRequest& request, const Watcher& watcher,
                                        std::stop_token stop);
// Measures the finalists again, and does nothing else.
[[nodiscard]] Result<RunOutcome> confirm(const ResumeRequest& request, const Watcher& watcher,
                                         std::stop_token stop);

// What a run would be: nothing is judged, asked or kept.
struct RunPlan {
  Run run;                         // without a name
  std::vector<std::string> moves;  // that the playbook makes
  std::filesystem::path store;
};

[[nodiscard]] Result<RunPlan> plan_run(const OptimizeRequest& request, std::stop_token stop);
[[nodiscard]] nlohmann::json to_json(const RunPlan& plan);

// The first call of a model that `request` would lead to. Nobody is asked, so no key is needed, and
// nothing is kept; the baseline is judged, since the prompt says how it runs.
[[nodiscard]] Result<Preview> preview_run(const OptimizeRequest& request, const Watcher& watcher,
                                          std::stop_token stop);

}  // namespace kernelpro
