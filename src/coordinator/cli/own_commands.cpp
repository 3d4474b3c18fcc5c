#include "coordinator/cli/own_commands.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "coordinator/app/own_task.hpp"
#include "coordinator/cli/output.hpp"
#include "coordinator/cli/run_output.hpp"
#include "coordinator/terminal/live_view.hpp"

namespace kernelpro {

namespace {

std::string ask_on_terminal(const std::string& flag) {
  std::fprintf(stderr, "%s ", flag.c_str());
  std::string answer;
  std::getline(std::cin, answer);
  return answer;
}

// What came of it for the user's own file.
void print_result(const OwnResult& result) {
  for (const std::string& sentence : result.refused) {
    fmt::print("  refused      {}\n", sentence);
  }
  if (result.faster) {
    fmt::print("  your build   {:.2f} times as fast, patched and built with {}\n", result.speedup,
               result.own_flags);
  } else if (result.patch_file.empty()) {
    fmt::print("  your build   nothing in the source makes it faster with {}\n", result.own_flags);
  } else {
    fmt::print("  your build   not faster with {} alone; the patch needs other flags\n",
               result.own_flags);
  }
  if (result.best_speedup > 1 && result.best_flags != result.own_flags) {
    fmt::print("  other flags  {:.2f} times as fast with {}\n", result.best_speedup,
               result.best_flags);
  }
  if (!result.patch_file.empty()) {
    fmt::print("  patch        {}: `patch -p1 < {}`\n", result.patch_file.string(),
               result.patch_file.string());
  }
}

nlohmann::json result_json(const OwnTaskMade& made, const OwnResult& result,
                           const RunReport& report) {
  return {{"task", made.folder.string()},
          {"notes", made.notes},
          {"run", report.run.id},
          {"patch", result.patch_file.string()},
          {"speedup", result.speedup},
          {"faster", result.faster},
          {"flags", result.own_flags},
          {"best_speedup", result.best_speedup},
          {"best_flags", result.best_flags},
          {"refused", result.refused}};
}

}  // namespace

bool is_own_function(const Options& options) {
  return parse_own_target(options.optimize.task).has_value();
}

int optimize_own_command(const Options& options, std::stop_token stop) {
  OwnRequest wanted = options.own;
  wanted.target = *parse_own_target(options.optimize.task);
  wanted.store = options.node.store;
  if (isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1 && !options.json) {
    wanted.ask = ask_on_terminal;
  }
  OptimizeRequest checked = options.optimize;
  checked.asks_nobody = options.dry_run;
  if (wanted.target.file.extension() == ".cu") {
    checked.settings.judging.backend = Backend::cuda;
  }
  if (const Status fit = check_settings(checked, stop); !fit) {
    return report_error(options, fit.error());
  }
  LiveView view(options.quiet);
  const Result<OwnTaskMade> made = make_own_task(wanted, view.watcher(), stop);
  view.clear();
  if (!made) {
    return report_error(options, made.error());
  }
  for (const std::string& note : made->notes) {
    print_note(options, note);
  }
  print_note(options, fmt::format("the task is {}", made->folder.string()));
  if (options.dry_run) {
    if (options.json) {
      print_json({{"task", made->folder.string()}, {"notes", made->notes}});
    }
    return exit_done;
  }
  OptimizeRequest request = checked;
  request.task = made->folder.string();
  request.settings.judging.threads = options.serial ? 1 : request.settings.judging.threads;
  const Result<RunOutcome> outcome = optimize(request, view.watcher(), stop);
  view.clear();
  if (!outcome) {
    return report_error(options, outcome.error());
  }
  const RunReport& report = outcome->report;
  if (!options.json) {
    print_run(options, report, outcome->load);
  }
  if (outcome->error) {
    return report_error(options, *outcome->error);
  }
  if (outcome->stopped) {
    print_note(options, fmt::format("interrupted; `kernelpro resume {}` goes on", report.run.id));
    return exit_interrupted;
  }
  const std::filesystem::path folder = options.exported.directory.empty()
                                           ? options.node.store / "patches"
                                           : options.exported.directory;
  const Result<OwnResult> result = finish_own_run(
      report, options.node.store, folder / (report.run.id + ".patch"), view.watcher(), stop);
  view.clear();
  if (!result) {
    return report_error(options, result.error());
  }
  if (options.json) {
    print_json(result_json(*made, *result, report));
  } else {
    print_result(*result);
  }
  return result->patch_file.empty() ? exit_not_passed : exit_done;
}

}  // namespace kernelpro
