// Tasks checked, and made of KernelBench problems.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <stop_token>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/orders.hpp"
#include "coordinator/app/progress.hpp"
#include "coordinator/task/load.hpp"
#include "coordinator/task/torch_problem.hpp"

namespace kernelpro {

// list_tasks and create_task are those of coordinator/task.
[[nodiscard]] nlohmann::json to_json(const std::vector<TaskListing>& tasks);

struct ShownTask {
  Task task;
  std::filesystem::path directory;
};
// A task by its name, folder or task.toml.
[[nodiscard]] Result<ShownTask> show_task(const std::string& name);
[[nodiscard]] nlohmann::json to_json(const ShownTask& shown);

struct CheckRequest {
  std::string task;  // a name, folder or task.toml
  JudgingSettings judging;
};

// Whether a task is fit to judge by.
struct TaskCheck {
  std::string task;
  std::vector<LintFinding> findings;
  std::int64_t errors = 0;  // none: it is fit
};

[[nodiscard]] Result<TaskCheck> check_task(const CheckRequest& request, const Watcher& watcher,
                                           std::stop_token stop);
[[nodiscard]] nlohmann::json to_json(const TaskCheck& check);

// Finds `problem.script` itself.
[[nodiscard]] Result<ProblemTask> new_problem_task(NewProblem problem, const Watcher& watcher);

// Where torch_oracle.py lies.
[[nodiscard]] Result<std::filesystem::path> torch_oracle_script();

}  // namespace kernelpro
