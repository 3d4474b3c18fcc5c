// What `kernelpro optimize` reaches on the bundled tasks, as one JSON value on standard output.
//
//   cmake --build --preset release && build/release/bin/suite_cpu --evaluations 80 >
//   bench/results/suite_cpu-NAME.json
//
// For each task three things by the same judge: the best of compilers, flags and one parallel loop;
// a whole run; and the library. With --searches the whole run is repeated by other searches at the
// same number of evaluations. Needs a quiet machine; about 40 minutes for all tasks.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/base/clock.hpp"
#include "common/base/file.hpp"
#include "coordinator/task/load.hpp"
#include "kernelpro_command.hpp"
#include "must.hpp"

namespace {

using namespace kernelpro;
using nlohmann::json;

struct Wanted {
  std::vector<std::string> tasks;
  std::vector<std::string> searches = {"mcts"};
  int evaluations = 80;
  int flag_evaluations = 24;
};

// A run, with its best node as `show` tells it.
json optimized(const ScratchDir& scratch, const std::string& task, const std::string& search,
               int evaluations, const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments = {
      "optimize", task, "--search", search, "--evaluations", std::to_string(evaluations)};
  arguments.insert(arguments.end(), more.begin(), more.end());
  json run = kernelpro_json(scratch.path(), arguments);
  run["shown"] = kernelpro_json(scratch.path(), {"show", run["run"].get<std::string>()});
  return run;
}

json library_of(const ScratchDir& scratch, const Task& task) {
  json best;
  for (const ImplementationSpec& comparator : task.comparators) {
    if (comparator.backend != "cpu") {
      continue;
    }
    const json judged = kernelpro_json(scratch.path(), {"evaluate", task.name, comparator.name});
    const json& one = judged["evaluations"][0];
    const json& verdict = one["certificate"]["verdict"];
    if (verdict["outcome"] != "passed") {
      continue;
    }
    const double speedup = verdict["timing"]["speedup"];
    if (best.is_null() || speedup > best["speedup"].get<double>()) {
      best = {{"name", comparator.name},
              {"implementation", one["implementation"]},
              {"speedup", speedup}};
    }
  }
  return best;
}

json short_run(const json& run) {
  return {{"speedup", run["best"]["speedup"]},
          {"speedup_interval", run["best"]["speedup_interval"]},
          {"moves", run["best"]["moves"]},
          {"found_at", run["found_at"]},
          {"evaluations", run["evaluations"]},
          {"duplicates", run["duplicates"]},
          {"verdicts", run["verdicts"]},
          {"progress", run["progress"]},
          {"seconds", run["wall_ns"].get<double>() / 1e9},
          {"overhead", 1 - run["work_ns"].get<double>() / run["wall_ns"].get<double>()}};
}

json measure(const ScratchDir& scratch, const Task& task, const Wanted& wanted) {
  const json flags = optimized(scratch, task.name, "greedy", wanted.flag_evaluations,
                               {"--tier", "build", "--move", "parallel"});
  json out = {{"task", task.name}, {"flags_only", short_run(flags)}};
  for (const std::string& search : wanted.searches) {
    const json run = optimized(scratch, task.name, search, wanted.evaluations);
    json result = short_run(run);
    result["over_flags_only"] = run["best"]["speedup"].get<double>() /
                                std::max(1.0, flags["best"]["speedup"].get<double>());
    result["share_of_bound"] = run["shown"]["node"]["share_of_bound"];
    result["bottleneck"] = run["shown"]["node"]["bottleneck"];
    out[search] = std::move(result);
  }
  const json library = library_of(scratch, task);
  if (!library.is_null()) {
    out["library"] = library;
    out["share_of_library"] =
        out[wanted.searches.front()]["speedup"].get<double>() / library["speedup"].get<double>();
  }
  return out;
}

double geometric_mean(const json& tasks, const std::string& search, const char* key) {
  double sum = 0;
  for (const json& task : tasks) {
    sum += std::log(task[search][key].get<double>());
  }
  return std::exp(sum / static_cast<double>(tasks.size()));
}

Wanted parse(int argc, char** argv) {
  Wanted wanted;
  CLI::App app("Measures what `kernelpro optimize` reaches on the bundled tasks.");
  app.add_option("tasks", wanted.tasks, "Tasks (default: all that come with KernelPro)");
  app.add_option("--searches", wanted.searches, "mcts, greedy, random (default: mcts)")
      ->delimiter(',');
  app.add_option("--evaluations", wanted.evaluations, "Of a whole run (default 80)");
  app.add_option("--flag-evaluations", wanted.flag_evaluations, "Of the flags alone (default 24)");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error));
  }
  return wanted;
}

}  // namespace

int main(int argc, char** argv) {
  Wanted wanted = parse(argc, argv);
  if (wanted.tasks.empty()) {
    for (const TaskListing& task : list_tasks()) {
      wanted.tasks.push_back(task.name);
    }
  }
  const Result<ScratchDir> scratch = ScratchDir::create("suite");
  if (!scratch) {
    give_up(scratch.error().text());
  }
  json out = {{"evaluations", wanted.evaluations}};
  out["doctor"] = kernelpro_json(scratch->path(), {"doctor"});
  out["tasks"] = json::array();
  const std::int64_t start = now_ns();
  for (const std::string& name : wanted.tasks) {
    const Result<std::filesystem::path> path = find_task(name);
    const Result<Task> task = path ? load_task(*path) : Result<Task>(path.error());
    if (!task) {
      give_up(task.error().text());
    }
    out["tasks"].push_back(measure(*scratch, *task, wanted));
    const json& last = out["tasks"].back();
    const json& run = last[wanted.searches.front()];
    fmt::print(stderr,
               "{:<18} flags {:6.2f}x  best {:6.2f}x  over flags {:5.2f}  {:3.0f} % of bound\n",
               name, last["flags_only"]["speedup"].get<double>(), run["speedup"].get<double>(),
               run["over_flags_only"].get<double>(), 100 * run["share_of_bound"].get<double>());
  }
  out["seconds"] = static_cast<double>(now_ns() - start) / 1e9;
  for (const std::string& search : wanted.searches) {
    out["geomean"][search] = {
        {"speedup", geometric_mean(out["tasks"], search, "speedup")},
        {"over_flags_only", geometric_mean(out["tasks"], search, "over_flags_only")}};
  }
  fmt::print("{}\n", out.dump(2));
  return 0;
}
