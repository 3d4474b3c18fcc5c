#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <utility>

#include "coordinator/app/own_task.hpp"
#include "coordinator/app/tasks.hpp"
#include "coordinator/cli/commands.hpp"
#include "coordinator/cli/watched.hpp"
#include "coordinator/report/table.hpp"
#include "coordinator/report/task_text.hpp"

namespace kernelpro {

namespace {

// What the author of a task can do about an error of this rule.
std::string_view advice(std::string_view rule) {
  if (rule == "zeros" || rule == "constant" || rule == "pass_through") {
    return "give the inputs other values or ranges, so that the outputs are neither tiny nor equal "
           "nor the input";
  }
  if (rule == "no_effect") {
    return "use this input in the reference, or take it out of the task";
  }
  if (rule == "bytes") {
    return "in [work] of task.toml, let bytes count what must be moved at least, each tensor once";
  }
  if (rule == "flops") {
    return "in [work] of task.toml, let flops give that number for every shape";
  }
  if (rule == "honest") {
    return "the baseline must compute what the reference does. A function that reads what it "
           "writes needs that tensor as an input too (`task new --inout NAME`); a long sum needs "
           "its length as reduction";
  }
  if (rule == "broken") {
    return "the tolerance is too wide: lower reduction to the length over which rounding "
           "accumulates";
  }
  return "";
}

void print_findings(const std::vector<LintFinding>& findings) {
  std::set<std::string> advised;
  for (const LintFinding& finding : findings) {
    fmt::print("  {:7} {:12} {}\n", name_of(finding.level), finding.rule, finding.text);
  }
  for (const LintFinding& finding : findings) {
    const std::string_view text = advice(finding.rule);
    if (finding.level == LintLevel::error && !text.empty() && advised.insert(finding.rule).second) {
      fmt::print("  mend {}: {}\n", finding.rule, text);
    }
  }
}

}  // namespace

int task_list_command(const Options& options, std::stop_token /*stop*/) {
  const std::vector<TaskListing> tasks = list_tasks();
  if (options.json) {
    print_json(to_json(tasks));
    return exit_done;
  }
  Table table({"task", "family", "what it computes"});
  std::set<std::string> folders;
  for (const TaskListing& task : tasks) {
    table.add({task.name, task.family, task.error.empty() ? task.summary : "! " + task.error});
    folders.insert(task.directory.parent_path().string());
  }
  fmt::print("{}", tasks.empty() ? "no task was found in ./tasks or above, KERNELPRO_TASKS or "
                                   "the installation\n"
                                 : table.text());
  for (const std::string& folder : folders) {
    fmt::print("found in {}\n", folder);
  }
  return exit_done;
}

int task_show_command(const Options& options, std::stop_token /*stop*/) {
  const Result<ShownTask> shown = show_task(options.check.task);
  if (!shown) {
    return report_error(options, shown.error());
  }
  if (options.json) {
    print_json(to_json(*shown));
  } else {
    fmt::print("{}\n  in         {}\n", task_text(shown->task), shown->directory.string());
  }
  return exit_done;
}

namespace {

void print_check(const TaskCheck& check) {
  print_findings(check.findings);
  fmt::print("{}: {}\n", check.task,
             check.errors == 0 ? "fit to judge by"
                               : fmt::format("not fit to judge by: {} error{}", check.errors,
                                             check.errors == 1 ? "" : "s"));
}

}  // namespace

int task_check_command(const Options& options, std::stop_token stop) {
  const Result<TaskCheck> check = watched(
      options, [&](const Watcher& watcher) { return check_task(options.check, watcher, stop); });
  return print_result(options, check, print_check, [](const TaskCheck& found) {
    return found.errors == 0 ? exit_done : exit_bad_input;
  });
}

namespace {

int problem_new(const Options& options) {
  NewProblem wanted = options.new_problem;
  wanted.name = options.new_task.name;
  wanted.directory = options.new_task.directory;
  const Result<ProblemTask> made = watched(options, [&](const Watcher& watcher) {
    return new_problem_task(std::move(wanted), watcher);
  });
  if (!made) {
    return report_error(options, made.error());
  }
  if (options.json) {
    print_json({{"directory", made->folder.string()},
                {"without_effect", made->without_effect},
                {"degenerate", made->degenerate}});
    return exit_done;
  }
  fmt::print("{}\n", made->folder.string());
  if (!made->without_effect.empty()) {
    fmt::print("Without effect on the outputs: {}\n", fmt::join(made->without_effect, ", "));
  }
  for (const std::string& why : made->degenerate) {
    fmt::print("Degenerate: {}\n", why);
  }
  fmt::print("Next: `kernelpro evaluate {} my_kernel.cpp`\n", made->folder.string());
  return exit_done;
}

}  // namespace

int task_new_command(const Options& options, std::stop_token stop) {
  if (!options.new_problem.checkout.empty()) {
    return problem_new(options);
  }
  const Result<std::filesystem::path> made = make_new_task(options.new_task, std::move(stop));
  if (!made) {
    return report_error(options, made.error());
  }
  if (options.json) {
    print_json({{"directory", made->string()}});
  } else {
    fmt::print(
        "{}\nNext: set the shapes and formulas in task.toml, then `kernelpro task check {}{}`\n",
        made->string(), made->string(),
        options.new_task.source.extension() == ".cu" ? " --backend cuda" : "");
  }
  return exit_done;
}

}  // namespace kernelpro
