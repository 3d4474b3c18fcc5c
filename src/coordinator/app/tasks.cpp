#include "coordinator/app/tasks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/base/paths.hpp"
#include "common/wire/json.hpp"
#include "common/wire/orders_json.hpp"
#include "coordinator/app/header_folders.hpp"
#include "coordinator/app/opening.hpp"
#include "coordinator/dispatch/worker_client.hpp"

namespace kernelpro {

nlohmann::json to_json(const std::vector<TaskListing>& tasks) {
  nlohmann::json list = nlohmann::json::array();
  for (const TaskListing& task : tasks) {
    list.push_back({{"name", task.name},
                    {"family", task.family},
                    {"summary", task.summary},
                    {"directory", task.directory.string()},
                    {"error", task.error}});
  }
  return {{"tasks", std::move(list)}};
}

Result<ShownTask> show_task(const std::string& name) {
  KP_LET(std::filesystem::path directory, find_task(name));
  KP_LET(Task task, load_task(directory));
  return ShownTask{std::move(task), std::move(directory)};
}

nlohmann::json to_json(const ShownTask& shown) {
  return {{"directory", shown.directory.string()}, {"task", to_json(shown.task)}};
}

Result<TaskCheck> check_task(const CheckRequest& request, const Watcher& watcher,
                             std::stop_token stop) {
  KP_LET(Task task, load_named_task(request.task));
  KP_LET(WorkerClient worker, WorkerClient::start());
  tell(watcher, Activity{task.name + ": opening"});
  // An unfit task is opened too: the check says all that is wrong with it.
  KP_LET(const OpenOrder opening,
         with_headers({.task = task, .judging = request.judging, .timed = false}));
  KP_TRY(worker.open(opening, stop));
  tell(watcher, Activity{task.name + ": checking"});
  worker.on_event([&](const WorkerEvent& event) {
    tell(watcher, Activity{fmt::format("{}: checking, {}", task.name, event.text)});
  });
  KP_LET(std::vector<LintFinding> findings, worker.check(stop));
  TaskCheck out{std::move(task.name), std::move(findings), 0};
  out.errors = std::ranges::count(out.findings, LintLevel::error, &LintFinding::level);
  return out;
}

nlohmann::json to_json(const TaskCheck& check) {
  nlohmann::json json = to_json(LintFindings{check.findings});
  json["task"] = check.task;
  json["fit"] = check.errors == 0;
  return json;
}

Result<ProblemTask> new_problem_task(NewProblem problem, const Watcher& watcher) {
  KP_LET(problem.script, torch_oracle_script());
  tell(watcher, Activity{"PyTorch looks at the problem"});
  return create_problem_task(problem);
}

Result<std::filesystem::path> torch_oracle_script() {
  const Result<std::filesystem::path> share = share_directory();
  return share ? *share / "oracle" / "torch_oracle.py"
               : Result<std::filesystem::path>(share.error());
}

}  // namespace kernelpro
