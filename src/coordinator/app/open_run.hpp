// A run, begun or taken up.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "coordinator/loop/replay.hpp"
#include "coordinator/store/store.hpp"

namespace kernelpro {

// A run to begin.
struct OptimizeRequest {
  std::string task;                 // a name, folder or task.toml
  std::filesystem::path store;      // folder of the runs
  RunSettings settings;             // but for `starts`
  std::vector<std::string> starts;  // source files to search from
  std::optional<int> batch;         // candidates of one bundle or batch
  bool asks_nobody = false;         // no model is asked, so no key is needed
};

// What is to be otherwise in a run that is taken up.
struct RunChanges {
  std::optional<std::int64_t> evaluations;  // the budget
  std::optional<double> seconds;
  bool accept_suspect = false;
  std::function<void(LlmSettings&)> llm;  // empty: all stays
};

// A run to go on with.
struct ResumeRequest {
  std::filesystem::path store;
  std::string run;
  RunChanges changes;
};

// A run that this process may write to.
struct OpenRun {
  Store store;
  Run run;
  RunLock lock;
  LoopHistory history;
  bool larger_budget = false;  // than it had, of a run that is taken up
};

// What is wrong with the settings, whatever the task is.
[[nodiscard]] Status check_settings(const OptimizeRequest& request, std::stop_token stop);

// The run as it would be made, without a name: nothing is kept. Everything that can be wrong with
// the task and the settings is said here.
[[nodiscard]] Result<Run> planned_run(const OptimizeRequest& request, std::stop_token stop);

[[nodiscard]] Result<OpenRun> new_run(const OptimizeRequest& request, std::stop_token stop);

[[nodiscard]] Result<OpenRun> old_run(const ResumeRequest& request);

}  // namespace kernelpro
