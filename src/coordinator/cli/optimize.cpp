#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/base/file.hpp"
#include "coordinator/cli/commands.hpp"
#include "coordinator/cli/open_run.hpp"
#include "coordinator/cli/output.hpp"
#include "coordinator/cli/prompt_preview.hpp"
#include "coordinator/cli/run_output.hpp"
#include "coordinator/cli/run_work.hpp"
#include "coordinator/dispatch/bundle.hpp"

namespace kernelpro {

namespace {

int say_what_is_awaited(const Run& run) {
  const std::string then = fmt::format("`kernelpro resume {}`", run.id);
  if (run.awaited.answers > 0 && run.settings.llm) {
    print_waiting_for_models(*run.settings.llm, then);
  }
  if (run.awaited.results > 0) {
    print_waiting(run.settings, then);
  }
  return exit_waiting;
}

// Why nothing is written to the folder that the user named.
std::string not_exported(const RunReport& report) {
  const std::string& run = report.run.id;
  if (report.best == root_node) {
    return "nothing was exported: no candidate is confirmed to be faster than the baseline";
  }
  return fmt::format(
      "nothing was exported: node {1} is not confirmed. `kernelpro confirm {0}` and then "
      "`kernelpro "
      "export {0} DIR`, or `kernelpro export {0} {1} DIR` as it is",
      run, report.best);
}

// The table of the run, also of one that was cut short.
int finish(const Options& options, OpenRun& open, const Status& worked,
           const std::optional<MachineLoad>& load, std::stop_token stop) {
  const Result<RunReport> report = print_run(options, open.store, open.run, load);
  if (!worked && !stop.stop_requested()) {
    return report_error(options, worked.error());
  }
  if (!report) {
    return report_error(options, report.error());
  }
  if (stop.stop_requested()) {
    print_note(options, fmt::format("interrupted; `kernelpro resume {}` goes on", open.run.id));
    return exit_interrupted;
  }
  if (open.run.state == RunState::waiting) {
    return say_what_is_awaited(open.run);
  }
  if (!report->confirmed) {
    if (!options.export_directory.empty()) {
      fmt::print(stderr, "kernelpro: {}\n", not_exported(*report));
    }
    return exit_not_passed;
  }
  if (!options.export_directory.empty()) {
    Options wanted = options;
    wanted.run = open.run.id;
    return export_run(wanted);
  }
  return exit_done;
}

int work_and_finish(const Options& options, OpenRun open, LoopPart part, std::stop_token stop) {
  for (const std::string& notice : open.store.notices()) {
    print_note(options, notice);
  }
  const std::optional<MachineLoad> load = tell_load(options, open.run.settings);
  LiveView view(open.run.task.name, !options.quiet);
  Status worked = work_on(open, view, part, stop);
  if (!worked && part == LoopPart::all) {
    open.run.state = RunState::interrupted;
    open.run.ended_because = worked.error().text();
  }
  if (const Status saved = open.store.save_run(open.run); !saved && worked) {
    worked = saved;
  }
  return finish(options, open, worked, load, stop);
}

// Whether there is anything to measure, and nothing else to be done before.
Status check_confirmable(const OpenRun& open) {
  const auto any = [&open](auto&& so) {
    return std::any_of(open.history.nodes.begin(), open.history.nodes.end(), so);
  };
  const bool awaited = any([](const Node& node) { return node.state == NodeState::in_flight; });
  if (open.run.settings.workers != "local" && awaited) {
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

// The first call of a model, in a store that is thrown away: the baseline is judged, since the
// prompt says how it runs, and nobody is asked.
int dry_run(const Options& options, std::stop_token stop) {
  if (options.llm.empty() || options.run_settings.workers != "local") {
    return report_error(options, make_error(ErrorKind::bad_input,
                                            "--dry-run shows what a model would be asked: it needs "
                                            "--llm, and judges the baseline on this machine"));
  }
  const Result<ScratchDir> scratch = ScratchDir::create("dry-run");
  if (!scratch) {
    return report_error(options, scratch.error());
  }
  Options wanted = options;
  wanted.store = scratch->path();
  Result<OpenRun> open = new_run(wanted, stop);
  if (!open) {
    return report_error(options, open.error());
  }
  LiveView view(open->run.task.name, !options.quiet);
  PreviewAuthor author(open->run);
  const Status worked = work_on(*open, view, LoopPart::all, stop, &author);
  if (stop.stop_requested()) {
    return exit_interrupted;
  }
  if (!worked) {
    return report_error(options, worked.error());
  }
  if (!author.text()) {
    return report_error(options, make_error(ErrorKind::bad_input,
                                            "no model would be asked: " + open->run.ended_because));
  }
  if (options.json) {
    print_json(author.json());
  } else {
    fmt::print("{}", *author.text());
  }
  return exit_done;
}

}  // namespace

int optimize(const Options& options, std::stop_token stop) {
  if (options.dry_run) {
    return dry_run(options, stop);
  }
  Result<OpenRun> open = new_run(options, stop);
  return open ? work_and_finish(options, std::move(*open), LoopPart::all, stop)
              : report_error(options, open.error());
}

int resume(const Options& options, std::stop_token stop) {
  Result<OpenRun> open = old_run(options);
  return open ? work_and_finish(options, std::move(*open), LoopPart::all, stop)
              : report_error(options, open.error());
}

int confirm(const Options& options, std::stop_token stop) {
  Result<OpenRun> open = old_run(options);
  if (!open) {
    return report_error(options, open.error());
  }
  if (const Status ready = check_confirmable(*open); !ready) {
    return report_error(options, ready.error());
  }
  return work_and_finish(options, std::move(*open), LoopPart::finalists, stop);
}

}  // namespace kernelpro
