#include "coordinator/app/opening.hpp"

#include "coordinator/task/load.hpp"

namespace kernelpro {

Result<Task> load_named_task(const std::string& name) {
  const Result<std::filesystem::path> path = find_task(name);
  return path ? load_task(*path) : Result<Task>(path.error());
}

JudgingSettings judging_at(const WorkerPlace& place, JudgingSettings judging) {
  judging.device = place.device.value_or(judging.device);
  return judging;
}

EvaluateOrder evaluate_order(const Job& job, const std::vector<std::string>& allow_precision) {
  EvaluateOrder order;
  order.candidate = job.candidate;
  order.incumbent = job.incumbent;
  order.allow_precision = allow_precision;
  order.energy = job.energy;
  order.diagnose = job.diagnose;
  return order;
}

Result<Opened> open_task(WorkerClient& worker, const OpenOrder& order, std::stop_token stop) {
  Result<Opened> opened = worker.open(order, stop);
  if (opened) {
    KP_TRY(refuse_unfit(*opened, order.task));
  }
  return opened;
}

Status refuse_unfit(const Opened& opened, const Task& task) {
  for (const LintFinding& finding : opened.findings) {
    if (finding.level == LintLevel::error) {
      return make_error(ErrorKind::bad_input,
                        finding.text +
                            "; the task cannot tell right from wrong (`kernelpro task "
                            "check` says more)",
                        "task " + task.name);
    }
  }
  return {};
}

bool is_implementation(const Task& task, const std::string& name) {
  return find_implementation(task.baselines, name) != nullptr ||
         find_implementation(task.comparators, name) != nullptr;
}

std::string implementation_names(const Task& task) {
  std::string names;
  for (const auto* list : {&task.baselines, &task.comparators}) {
    for (const ImplementationSpec& implementation : *list) {
      names += (names.empty() ? "" : ", ") + implementation.name;
    }
  }
  return names;
}

}  // namespace kernelpro
