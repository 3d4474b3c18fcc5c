#include "coordinator/cli/own_commands.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "coordinator/app/own_flags.hpp"
#include "coordinator/app/own_task.hpp"
#include "coordinator/cli/output.hpp"
#include "coordinator/cli/run_output.hpp"
#include "coordinator/terminal/live_view.hpp"

namespace kernelpro {

namespace {

// A line that was typed; nothing at the end of input or when asked to stop.
std::string typed_line(const std::stop_token& stop) {
  constexpr int look_every_ms = 100;
  std::string line;
  pollfd input{STDIN_FILENO, POLLIN, 0};
  while (!stop.stop_requested()) {
    if (::poll(&input, 1, look_every_ms) > 0) {
      std::getline(std::cin, line);
      break;
    }
  }
  return line;
}

std::vector<std::string> ask_on_terminal(const Question& question, const std::stop_token& stop) {
  for (;;) {
    fmt::print(stderr, "{} ({}{}{}): ", question.about, question.flag,
               question.proposal.empty() ? "" : "; Enter takes ",
               fmt::join(question.proposal, " "));
    std::istringstream words(typed_line(stop));
    const std::vector<std::string> answer{std::istream_iterator<std::string>(words), {}};
    NewTask scratch;
    Status fine;
    for (const std::string& one : answer) {
      fine = fine ? take_flag(scratch, question.flag, one) : fine;
    }
    if (fine) {
      return answer;
    }
    fmt::print(stderr, "{}\n", fine.error().message);
  }
}

// Where the best with other flags is found, if the patch is not it.
std::string other_patch(const OwnResult& result, const std::string& run) {
  return result.best_node
             ? fmt::format(", by another patch: `kernelpro export {} {} DIR --as patch`", run,
                           *result.best_node)
             : "";
}

// What came of it for the user's own file.
void print_result(const OwnResult& result, const RunReport& report) {
  const std::string& run = report.run.id;
  for (const std::string& sentence : result.refused) {
    fmt::print("  refused      {}\n", sentence);
  }
  if (result.faster) {
    fmt::print("  your build   {:.2f} times as fast, patched and built with {}\n", result.speedup,
               result.own_flags);
  } else if (result.patch_file.empty() && report.best == root_node && !report.faster.empty()) {
    fmt::print(
        "  your build   not known yet: `kernelpro confirm {}` while the machine is quiet, then "
        "`kernelpro export {} DIR --as patch`\n",
        run, run);
  } else if (result.patch_file.empty()) {
    fmt::print("  your build   nothing in the source makes it faster with {}\n", result.own_flags);
  } else {
    fmt::print("  your build   not faster with {} alone: add {} to it\n", result.own_flags,
               result.missing_flags);
  }
  if (result.best_speedup > 1 && result.best_flags != result.own_flags) {
    fmt::print("  other flags  {:.2f} times as fast with {}{}\n", result.best_speedup,
               result.best_flags, other_patch(result, run));
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
          {"missing_flags", result.missing_flags},
          {"best_node", result.best_node ? nlohmann::json(*result.best_node) : nullptr},
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
  LiveView view(options.quiet);
  if (isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1 && !options.json) {
    wanted.ask = [&view, &stop](const Question& question) {
      view.clear();
      return ask_on_terminal(question, stop);
    };
  }
  OptimizeRequest checked = options.optimize;
  checked.asks_nobody = options.dry_run;
  if (wanted.target.file.extension() == ".cu") {
    checked.settings.judging.backend = Backend::cuda;
  }
  if (const Status fit = check_settings(checked, stop); !fit) {
    return report_error(options, fit.error());
  }
  const Result<OwnTaskMade> made = make_own_task(wanted, view.watcher(), stop);
  view.clear();
  if (!made) {
    return report_error(options, made.error());
  }
  if (made->untried && !options.dry_run) {
    return report_error(options, *made->untried);
  }
  for (const std::string& note : made->notes) {
    print_note(options, note);
  }
  if (made->untried) {
    print_note(options, "not tried here: " + made->untried->text());
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
    print_result(*result, report);
  }
  return result->patch_file.empty() ? exit_not_passed : exit_done;
}

}  // namespace kernelpro
