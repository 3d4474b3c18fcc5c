#include <fmt/format.h>

#include "common/base/file.hpp"
#include "coordinator/app/run_work.hpp"
#include "coordinator/app/runs.hpp"
#include "coordinator/app/suite.hpp"
#include "coordinator/app/suite_plan.hpp"
#include "coordinator/app/tasks.hpp"
#include "coordinator/propose/source_header.hpp"

namespace kernelpro {

namespace {

namespace fs = std::filesystem;

std::string task_name(const SuiteProblem& problem) {
  return fmt::format("kernelbench_{}_{}", problem.id.level, problem.id.number);
}

// The task's folder in the store, made by PyTorch where it is not there yet.
Result<fs::path> task_folder(const SuiteRequest& request, const SuiteProblem& problem,
                             const fs::path& script) {
  const fs::path tasks = fs::absolute(request.search.store) / "tasks";
  if (fs::exists(tasks / task_name(problem) / "task.toml")) {
    return tasks / task_name(problem);
  }
  std::error_code failure;
  fs::create_directories(tasks, failure);
  if (failure) {
    return make_error(ErrorKind::io, failure.message(), tasks.string());
  }
  NewProblem wanted;
  wanted.checkout = request.checkout;
  wanted.level = problem.id.level;
  wanted.problem = problem.id.number;
  wanted.directory = tasks;
  wanted.script = script;
  Result<ProblemTask> made = create_problem_task(wanted);
  return made ? Result<fs::path>(made->folder) : Result<fs::path>(made.error());
}

// The newest run of a task by models on that backend; empty: none.
Result<std::string> known_run(const OptimizeRequest& search, const std::string& task) {
  KP_LET(const Store store, Store::open(search.store, StoreMode::write));
  KP_LET(const std::vector<RunSummary> runs, store.list_runs());
  std::string newest;
  std::string created;
  for (const RunSummary& summary : runs) {
    if (summary.task != task || summary.created < created) {
      continue;
    }
    KP_LET(const Run run, store.load_run(summary.id));
    if (run.settings.llm && run.settings.judging.backend == search.settings.judging.backend) {
      newest = summary.id;
      created = summary.created;
    }
  }
  return newest;
}

Result<OpenRun> open_search(const SuiteRequest& request, const SuiteProblem& problem,
                            const fs::path& script, std::stop_token stop) {
  KP_LET(const std::string known, known_run(request.search, task_name(problem)));
  if (!known.empty()) {
    return old_run({request.search.store, known, request.changes});
  }
  KP_LET(const fs::path folder, task_folder(request, problem, script));
  OptimizeRequest wanted = request.search;
  wanted.task = folder.string();
  // A bundle is of one task.
  if (wanted.settings.workers.scheme == WorkerScheme::bundle) {
    wanted.settings.workers.file += "." + task_name(problem);
  }
  return new_run(wanted, stop);
}

// The source says itself how it was built: it may have inherited that from its parent.
std::string with_build_wishes(const Node& node, const std::string& source) {
  const SourceHeader header = read_source_header(source);
  std::string wishes;
  if (header.compiler != node.compiler && !node.compiler.empty()) {
    wishes += "// kp:compiler " + node.compiler + "\n";
  }
  if (header.options != node.options) {
    wishes += fmt::format("// kp:options {}\n", fmt::join(node.options, " "));
  }
  return wishes + source;
}

Status keep_best(const fs::path& folder, const OpenRun& open, const SuiteProblem& problem) {
  KP_LET(const Node best, open.store.load_node(open.run.id, open.run.best));
  KP_LET(const std::string source, open.store.load_source(best.source_hash));
  std::error_code failure;
  fs::create_directories(folder, failure);
  return write_file_atomic(
      folder / fmt::format("{}_{}{}", problem.id.level, problem.id.number,
                           traits_of(open.run.settings.judging.backend).extension),
      with_build_wishes(best, source));
}

// Works on it unless it is finished, and keeps what came of it.
Status work_on_search(const SuiteRequest& request, OpenRun& open, ProblemSearch& search,
                      const Watcher& watcher, std::stop_token stop) {
  // A run that has ended is left alone, unless its budget is larger now.
  if (open.run.state != RunState::finished || open.larger_budget) {
    KP_TRY(work_and_save(open, LoopPart::all, watcher, stop));
  }
  KP_LET(const RunReport report, load_report(open.store, open.run.id));
  search.judged = report.evaluations;
  search.state = std::string(name_of(open.run.state));
  search.awaited = open.run.awaited;
  if (const Node* best = find_node(report.nodes, report.best);
      best != nullptr && report.best != root_node) {
    search.speedup = best->speedup;
  }
  if (open.run.state == RunState::finished && open.run.best != root_node) {
    return keep_best(request.candidates, open, search.problem);
  }
  return {};
}

ProblemSearch search_one(const SuiteRequest& request, const SuiteProblem& problem,
                         const fs::path& script, const Watcher& watcher, std::stop_token stop) {
  ProblemSearch search;
  search.problem = problem;
  Result<OpenRun> open = open_search(request, problem, script, stop);
  if (!open) {
    search.state = open.error().text();
    search.failed = true;
    return search;
  }
  search.run = open->run.id;
  if (const Status worked = work_on_search(request, *open, search, watcher, stop); !worked) {
    search.state = worked.error().text();
    search.failed = true;
  }
  return search;
}

}  // namespace

Result<std::vector<ProblemSearch>> search_suite(const SuiteRequest& request, const Watcher& watcher,
                                                std::stop_token stop) {
  KP_LET(const SuiteProblems problems, find_problems(request));
  KP_LET(const fs::path script, torch_oracle_script());
  if (request.candidates.empty()) {
    return make_error(ErrorKind::bad_input,
                      "--llm needs --candidates DIR: the folder that the best are written to");
  }
  std::vector<ProblemSearch> searches;
  for (const SuiteProblem& problem : problems.chosen) {
    if (stop.stop_requested()) {
      return make_error(ErrorKind::interrupted, "interrupted; the same command goes on");
    }
    searches.push_back(search_one(request, problem, script, watcher, stop));
  }
  if (stop.stop_requested()) {
    return make_error(ErrorKind::interrupted, "interrupted; the same command goes on");
  }
  return searches;
}

}  // namespace kernelpro
