#include "coordinator/app/optimize.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "common/base/file.hpp"
#include "common/wire/run_json.hpp"
#include "coordinator/app/run_memory.hpp"
#include "coordinator/app/run_work.hpp"
#include "coordinator/app/runs.hpp"

namespace kernelpro {

namespace {

// What others do on this machine; nothing where the work is done elsewhere or by a GPU.
std::optional<MachineLoad> look_around(const RunSettings& settings, const Watcher& watcher) {
  if (traits_of(settings.judging.backend).gpu || settings.workers.scheme != WorkerScheme::live) {
    return std::nullopt;
  }
  MachineLoad load = MachineWatch().look();
  tell(watcher, load);
  return load;
}

Result<RunOutcome> work_and_report(OpenRun open, LoopPart part, const Watcher& watcher,
                                   std::stop_token stop) {
  for (const std::string& notice : open.store.notices()) {
    tell(watcher, Remark{Remark::On::program, notice});
  }
  RunOutcome out;
  out.load = look_around(open.run.settings, watcher);
  Status worked = work_and_save(open, part, watcher, stop);
  out.stopped = stop.stop_requested();
  if (!worked && !out.stopped) {
    out.error = worked.error();
  }
  Result<RunReport> report = load_report(open.store, open.run.id);
  if (!report) {
    return worked ? report.error() : worked.error();
  }
  out.report = std::move(*report);
  out.report.run.awaited = open.run.awaited;
  return out;
}

// What kept it from judging even the baseline would keep it again: there is nothing to resume.
bool never_began(const RunOutcome& outcome) {
  const auto judged = [](const Node& node) { return node.state == NodeState::judged; };
  return outcome.error && outcome.error->kind == ErrorKind::environment &&
         std::ranges::none_of(outcome.report.nodes, judged);
}

// Whether there is anything to measure, and nothing else to be done before.
Status check_confirmable(const OpenRun& open) {
  const auto any = [&open](auto&& so) {
    return std::any_of(open.history.nodes.begin(), open.history.nodes.end(), so);
  };
  const bool awaited = any([](const Node& node) { return node.state == NodeState::in_flight; });
  if (open.run.settings.workers.scheme != WorkerScheme::live && awaited) {
    return make_error(ErrorKind::bad_input,
                      fmt::format("it waits for results of its search: `kernelpro resume {}` reads "
                                  "them first",
                                  open.run.id),
                      "run " + open.run.id);
  }
  if (!any([](const Node& node) {
        return node.id != root_node && node.outcome == Outcome::passed;
      })) {
    return make_error(
        ErrorKind::bad_input,
        fmt::format("no candidate of it has passed, so there is nothing to confirm; `kernelpro "
                    "resume {} -n N` tries more",
                    open.run.id),
        "run " + open.run.id);
  }
  return {};
}

}  // namespace

Result<RunOutcome> optimize(const OptimizeRequest& request, const Watcher& watcher,
                            std::stop_token stop) {
  KP_LET(OpenRun open, new_run(request, stop));
  KP_LET(RunOutcome outcome, work_and_report(std::move(open), LoopPart::all, watcher, stop));
  if (never_began(outcome)) {
    KP_TRY(remove_runs(request.store, {outcome.report.run.id}, false));
    return *outcome.error;
  }
  return outcome;
}

Result<RunOutcome> resume(const ResumeRequest& request, const Watcher& watcher,
                          std::stop_token stop) {
  Result<OpenRun> open = old_run(request);
  return open ? work_and_report(std::move(*open), LoopPart::all, watcher, stop)
              : Result<RunOutcome>(open.error());
}

Result<RunOutcome> confirm(const ResumeRequest& request, const Watcher& watcher,
                           std::stop_token stop) {
  KP_LET(OpenRun open, old_run(request));
  KP_TRY(check_confirmable(open));
  return work_and_report(std::move(open), LoopPart::finalists, watcher, stop);
}

Result<RunPlan> plan_run(const OptimizeRequest& request, std::stop_token stop) {
  KP_LET(Run run, planned_run(request, stop));
  KP_LET(const Playbook playbook, load_playbook(run, {}));
  RunPlan plan{std::move(run), {}, request.store};
  std::ranges::transform(playbook.moves(), std::back_inserter(plan.moves), &Move::id);
  return plan;
}

nlohmann::json to_json(const RunPlan& plan) {
  return {{"task", plan.run.task.name},
          {"task_path", plan.run.task_path},
          {"settings", to_json(plan.run.settings)},
          {"moves", plan.moves},
          {"store", plan.store.string()}};
}

Result<Preview> preview_run(const OptimizeRequest& request, const Watcher& watcher,
                            std::stop_token stop) {
  if (!request.settings.llm || request.settings.workers.scheme != WorkerScheme::live) {
    return make_error(
        ErrorKind::bad_input,
        "a preview of what a model would be asked needs --llm, and judges the baseline on "
        "this machine");
  }
  KP_LET(const ScratchDir scratch, ScratchDir::create("dry-run"));
  OptimizeRequest wanted = request;
  wanted.store = scratch.path();
  wanted.asks_nobody = true;
  if (wanted.settings.memory == memory_on) {
    wanted.settings.memory = memory_place(memory_on, request.store).string();
  }
  KP_LET(OpenRun open, new_run(wanted, stop));
  PreviewAuthor author(request.store);
  const Status worked = work_on(open, watcher, LoopPart::all, stop, &author);
  if (stop.stop_requested()) {
    return make_error(ErrorKind::interrupted, "interrupted");
  }
  if (!worked) {
    return worked.error();
  }
  if (!author.preview()) {
    return make_error(ErrorKind::bad_input, "no model would be asked: " + open.run.ended_because);
  }
  return *author.preview();
}

}  // namespace kernelpro
