#include "coordinator/cli/suite_search.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/file.hpp"
#include "coordinator/cli/live_view.hpp"
#include "coordinator/cli/open_run.hpp"
#include "coordinator/cli/run_work.hpp"
#include "coordinator/dispatch/bundle.hpp"
#include "coordinator/propose/source_header.hpp"
#include "coordinator/report/table.hpp"
#include "coordinator/task/torch_problem.hpp"

namespace kernelpro {

namespace {

namespace fs = std::filesystem;

constexpr const char* nothing = "–";

std::string task_name(const SuiteProblem& problem) {
  return fmt::format("kernelbench_{}_{}", problem.id.level, problem.id.number);
}

// The task's folder in the store, made by PyTorch where it is not there yet.
Result<fs::path> task_folder(const Options& options, const SuiteProblem& problem,
                             const fs::path& script) {
  const fs::path tasks = fs::absolute(store_directory(options.store)) / "tasks";
  if (fs::exists(tasks / task_name(problem) / "task.toml")) {
    return tasks / task_name(problem);
  }
  std::error_code failure;
  fs::create_directories(tasks, failure);
  if (failure) {
    return make_error(ErrorKind::io, failure.message(), tasks.string());
  }
  NewProblem wanted;
  wanted.checkout = options.suite.checkout;
  wanted.level = problem.id.level;
  wanted.problem = problem.id.number;
  wanted.directory = tasks;
  wanted.script = script;
  Result<ProblemTask> made = create_problem_task(wanted);
  return made ? Result<fs::path>(made->folder) : Result<fs::path>(made.error());
}

// The newest run of a task by models on that backend; empty: none.
Result<std::string> known_run(const Options& options, const std::string& task) {
  const Result<Store> store = Store::open(store_directory(options.store), StoreMode::write);
  const Result<std::vector<RunSummary>> runs =
      store ? store->list_runs() : Result<std::vector<RunSummary>>(store.error());
  if (!runs) {
    return runs.error();
  }
  std::string newest;
  std::string created;
  for (const RunSummary& summary : *runs) {
    if (summary.task != task || summary.created < created) {
      continue;
    }
    const Result<Run> run = store->load_run(summary.id);
    if (!run) {
      return run.error();
    }
    if (run->settings.llm && run->settings.backend == options.run_settings.backend) {
      newest = summary.id;
      created = summary.created;
    }
  }
  return newest;
}

Result<OpenRun> open_search(const Options& options, const SuiteProblem& problem,
                            const fs::path& script, std::stop_token stop) {
  Options wanted = options;
  const Result<std::string> known = known_run(options, task_name(problem));
  if (!known) {
    return known.error();
  }
  if (!known->empty()) {
    wanted.run = *known;
    return old_run(wanted);
  }
  const Result<fs::path> folder = task_folder(options, problem, script);
  if (!folder) {
    return folder.error();
  }
  wanted.task = folder->string();
  wanted.run_settings.allow_precision = options.allow_precision;
  wanted.run_settings.accept_suspect = options.accept_suspect;
  // A bundle is of one task.
  if (bundle_file(options.run_settings.workers)) {
    wanted.run_settings.workers += "." + task_name(problem);
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

Status keep_best(const Options& options, const OpenRun& open, const SuiteProblem& problem) {
  const Result<Node> best = open.store.load_node(open.run.id, open.run.best);
  const Result<std::string> source =
      best ? open.store.load_source(best->source_hash) : Result<std::string>(best.error());
  if (!source) {
    return source.error();
  }
  std::error_code failure;
  fs::create_directories(options.suite.candidates, failure);
  const char* const extension = open.run.settings.backend == "cuda" ? "cu" : "cpp";
  return write_file_atomic(options.suite.candidates / fmt::format("{}_{}.{}", problem.id.level,
                                                                  problem.id.number, extension),
                           with_build_wishes(*best, *source));
}

// Works on it unless it is finished, and keeps what came of it.
Status work_on_search(const Options& options, OpenRun& open, ProblemSearch& search,
                      std::stop_token stop) {
  // A run that has ended is left alone, unless its budget is larger now.
  if (open.run.state != RunState::finished || open.larger_budget) {
    LiveView view(open.run.task.name, !options.quiet);
    const Status worked = work_on(open, view, LoopPart::all, stop);
    if (!worked) {
      open.run.state = RunState::interrupted;
      open.run.ended_because = worked.error().text();
    }
    KP_TRY(open.store.save_run(open.run));
    if (!worked) {
      return worked.error();
    }
  }
  const Result<RunReport> report = load_report(open.store, open.run.id);
  if (!report) {
    return report.error();
  }
  search.judged = report->evaluations;
  search.state = std::string(name_of(open.run.state));
  search.awaited = open.run.awaited;
  if (const Node* best = find_node(report->nodes, report->best);
      best != nullptr && report->best != root_node) {
    search.speedup = best->speedup;
  }
  if (open.run.state == RunState::finished && open.run.best != root_node) {
    return keep_best(options, open, search.problem);
  }
  return {};
}

ProblemSearch search_one(const Options& options, const SuiteProblem& problem,
                         const fs::path& script, std::stop_token stop) {
  ProblemSearch search;
  search.problem = problem;
  Result<OpenRun> open = open_search(options, problem, script, stop);
  if (!open) {
    search.state = open.error().text();
    search.failed = true;
    return search;
  }
  search.run = open->run.id;
  if (const Status worked = work_on_search(options, *open, search, stop); !worked) {
    search.state = worked.error().text();
    search.failed = true;
  }
  return search;
}

}  // namespace

Result<std::vector<ProblemSearch>> search_suite(const Options& options,
                                                const std::vector<SuiteProblem>& problems,
                                                const fs::path& script, std::stop_token stop) {
  if (options.suite.candidates.empty()) {
    return make_error(ErrorKind::bad_input,
                      "--llm needs --candidates DIR: the folder that the best are written to");
  }
  std::vector<ProblemSearch> searches;
  for (const SuiteProblem& problem : problems) {
    if (stop.stop_requested()) {
      return make_error(ErrorKind::interrupted, "interrupted; the same command goes on");
    }
    searches.push_back(search_one(options, problem, script, stop));
  }
  if (stop.stop_requested()) {
    return make_error(ErrorKind::interrupted, "interrupted; the same command goes on");
  }
  return searches;
}

std::string searches_text(const std::vector<ProblemSearch>& searches) {
  Table table({"problem", "run", "judged", "best", "state"});
  for (const ProblemSearch& search : searches) {
    table.add({fmt::format("{}/{} {}", search.problem.id.level, search.problem.id.number,
                           search.problem.name),
               search.run.empty() ? nothing : search.run, std::to_string(search.judged),
               search.speedup > 0 ? fmt::format("{:.2f}x", search.speedup) : nothing,
               search.state});
  }
  return table.text();
}

}  // namespace kernelpro
