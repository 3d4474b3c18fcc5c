#include "coordinator/app/opening.hpp"

#include <fmt/format.h>

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
  order.brief = job.brief;
  order.energy = job.energy;
  order.diagnose = job.diagnose;
  order.diagnose_above = job.diagnose_above;
  return order;
}

Status refuse_unfit(const WorkerDescription& machine, const JudgingSettings& judging,
                    const std::string& where) {
  for (const Problem& problem : machine.problems) {
    const bool waived = !judging.sandbox && problem.what.starts_with("landlock");
    if (problem.fatal && !waived) {
      return make_error(ErrorKind::environment, problem.what + "; " + problem.remedy, where);
    }
  }
  return {};
}

Result<Opened> open_task(WorkerClient& worker, const OpenOrder& order, std::stop_token stop) {
  KP_TRY(refuse_unfit(worker.greeting(), order.judging, worker.where()));
  Result<Opened> opened = worker.open(order, stop);
  if (opened) {
    KP_TRY(refuse_unfit(*opened, order.task));
  }
  return opened;
}

namespace {

// Of a user's own function, whose values were chosen without knowing what they mean.
std::string values_hint(const Task& task) {
  if (!task.entry || (task.scalars.empty() && task.inputs.empty())) {
    return "";
  }
  const std::string& name =
      task.scalars.empty() ? task.inputs.front().name : task.scalars.front().name;
  return fmt::format("; with values as your program has them it may: --values {}=uniform:LOW:HIGH",
                     name);
}

}  // namespace

Status refuse_unfit(const Opened& opened, const Task& task) {
  for (const LintFinding& finding : opened.findings) {
    if (finding.level == LintLevel::error) {
      return make_error(ErrorKind::bad_input,
                        finding.text +
                            "; the task cannot tell right from wrong (`kernelpro task "
                            "check` says more)" +
                            values_hint(task),
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
