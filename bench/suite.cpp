#include "suite.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "common/base/clock.hpp"
#include "common/base/file.hpp"
#include "coordinator/task/load.hpp"
#include "kernelpro_command.hpp"
#include "must.hpp"

namespace kernelpro {

namespace {

using nlohmann::json;

struct Wanted {
  std::vector<std::string> tasks;
  std::vector<std::string> searches = {"mcts"};
  int evaluations = 60;
  int flag_evaluations = 16;
  bool from_candidates = false;
  bool libraries = false;
  std::string into;
};

Wanted parse(const SuiteBackend& backend, int argc, char** argv) {
  Wanted wanted;
  CLI::App app("Measures what `kernelpro optimize --backend " + backend.name +
               "` reaches on the bundled tasks.");
  app.add_option("tasks", wanted.tasks, "Tasks (default: all that come with KernelPro)");
  app.add_option("--searches", wanted.searches, "mcts, greedy, random (default: mcts)")
      ->delimiter(',');
  app.add_option("--evaluations", wanted.evaluations, "Of a whole run (default 60)");
  app.add_option("--flag-evaluations", wanted.flag_evaluations, "Of the build alone (default 16)");
  app.add_flag("--from-candidates", wanted.from_candidates,
               "Search once more from the candidates beside each task");
  app.add_flag("--libraries", wanted.libraries,
               "Only measure again the libraries that the results are compared with");
  app.add_option("--into", wanted.into, "The file of the results; tasks that it has are kept")
      ->required();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error));
  }
  if (wanted.tasks.empty()) {
    for (const TaskListing& task : list_tasks()) {
      wanted.tasks.push_back(task.name);
    }
  }
  return wanted;
}

class Suite {
 public:
  Suite(SuiteBackend backend, Wanted wanted, ScratchDir scratch)
      : backend_(std::move(backend)), wanted_(std::move(wanted)), scratch_(std::move(scratch)) {}

  void run() {
    take_up();
    for (const std::string& name : wanted_.tasks) {
      const std::filesystem::path path = must(find_task(name));
      json* known = find(name);
      if (wanted_.libraries && known != nullptr) {
        compare_with_library(must(load_task(path)), *known);
      } else if (wanted_.libraries || known != nullptr) {
        continue;
      } else {
        add(must(load_task(path)), path);
      }
      must(write_file_atomic(wanted_.into, results_.dump(2) + "\n"));
      print(*find(name));
    }
  }

 private:
  // What an earlier suite of the same kind has left.
  void take_up() {
    results_ = {{"backend", backend_.name},
                {"evaluations", wanted_.evaluations},
                {"flag_evaluations", wanted_.flag_evaluations},
                {"searches", wanted_.searches},
                {"from_candidates", wanted_.from_candidates},
                {"seconds", 0.0},
                {"tasks", json::array()}};
    if (!std::filesystem::exists(wanted_.into)) {
      results_["doctor"] = kernelpro_json(scratch_.path(), {"doctor"});
      return;
    }
    json earlier = must(parse_json(must(read_file(wanted_.into))));
    for (const char* key :
         {"backend", "evaluations", "flag_evaluations", "searches", "from_candidates"}) {
      if (earlier.value(key, json()) != results_[key]) {
        give_up(fmt::format("{} was measured with another \"{}\": name another file", wanted_.into,
                            key));
      }
    }
    results_ = std::move(earlier);
  }

  [[nodiscard]] json* find(const std::string& task) {
    json& tasks = results_["tasks"];
    const auto found = std::find_if(tasks.begin(), tasks.end(),
                                    [&task](const json& one) { return one["task"] == task; });
    return found == tasks.end() ? nullptr : &*found;
  }

  void add(const Task& task, const std::filesystem::path& path) {
    const std::int64_t start = now_ns();
    json one = measure(task, path);
    compare_with_library(task, one);
    results_["tasks"].push_back(std::move(one));
    results_["seconds"] =
        results_["seconds"].get<double>() + static_cast<double>(now_ns() - start) / 1e9;
    summarize();
  }

  // A run, with its best node as `show` tells it.
  [[nodiscard]] json optimized(const std::string& task, const std::string& search, int evaluations,
                               const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments = {
        "optimize", task,   "--backend",     backend_.name,
        "--search", search, "--evaluations", std::to_string(evaluations)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    json run = kernelpro_json(scratch_.path(), arguments);
    run["shown"] = kernelpro_json(scratch_.path(), {"show", run["run"].get<std::string>()});
    return run;
  }

  [[nodiscard]] json library_of(const Task& task) const {
    json best;
    for (const ImplementationSpec& comparator : task.comparators) {
      if (name_of(comparator.backend) != backend_.name) {
        continue;
      }
      const json judged = kernelpro_json(
          scratch_.path(), {"evaluate", task.name, comparator.name, "--backend", backend_.name});
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

  static json short_run(const json& run) {
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

  static json compared(const json& run, const json& flags) {
    json result = short_run(run);
    result["over_flags_only"] = run["best"]["speedup"].get<double>() /
                                std::max(1.0, flags["best"]["speedup"].get<double>());
    result["share_of_bound"] = run["shown"]["node"]["share_of_bound"];
    result["bottleneck"] = run["shown"]["node"]["bottleneck"];
    return result;
  }

  // The options that make the task's candidates starts of a search.
  [[nodiscard]] std::vector<std::string> starts_of(const std::filesystem::path& task) const {
    const std::filesystem::path folder =
        (std::filesystem::is_directory(task) ? task : task.parent_path()) / "candidates";
    std::vector<std::string> out;
    std::error_code failure;
    for (const auto& entry : std::filesystem::directory_iterator(folder, failure)) {
      if (entry.path().extension() == backend_.extension) {
        out.insert(out.end(), {"--from", std::filesystem::absolute(entry.path()).string()});
      }
    }
    return out;
  }

  [[nodiscard]] json measure(const Task& task, const std::filesystem::path& path) const {
    const json flags =
        optimized(task.name, "greedy", wanted_.flag_evaluations, backend_.build_only);
    json out = {{"task", task.name}, {"flags_only", short_run(flags)}};
    for (const std::string& search : wanted_.searches) {
      out[search] = compared(optimized(task.name, search, wanted_.evaluations), flags);
    }
    if (wanted_.from_candidates) {
      out["from_candidates"] = compared(
          optimized(task.name, wanted_.searches.front(), wanted_.evaluations, starts_of(path)),
          flags);
    }
    return out;
  }

  void compare_with_library(const Task& task, json& one) const {
    const json library = library_of(task);
    if (!library.is_null()) {
      const std::string whole =
          wanted_.from_candidates ? "from_candidates" : wanted_.searches.front();
      one["library"] = library;
      one["share_of_library"] =
          one[whole]["speedup"].get<double>() / library["speedup"].get<double>();
    }
  }

  [[nodiscard]] double geometric_mean(const std::string& search, const char* key) const {
    double sum = 0;
    for (const json& task : results_["tasks"]) {
      sum += std::log(task[search][key].get<double>());
    }
    return std::exp(sum / static_cast<double>(results_["tasks"].size()));
  }

  void summarize() {
    for (const std::string& search : wanted_.searches) {
      results_["geomean"][search] = {
          {"speedup", geometric_mean(search, "speedup")},
          {"over_flags_only", geometric_mean(search, "over_flags_only")}};
    }
  }

  void print(const json& task) const {
    const json& run = task[wanted_.searches.front()];
    fmt::print("{:<18} flags {:6.2f}x  best {:6.2f}x  over flags {:5.2f}  {:3.0f} % of bound\n",
               task["task"].get<std::string>(), task["flags_only"]["speedup"].get<double>(),
               run["speedup"].get<double>(), run["over_flags_only"].get<double>(),
               100 * (run["share_of_bound"].is_number() ? run["share_of_bound"].get<double>() : 0));
    std::fflush(stdout);
  }

  SuiteBackend backend_;
  Wanted wanted_;
  ScratchDir scratch_;
  json results_;
};

}  // namespace

int run_suite(const SuiteBackend& backend, int argc, char** argv) {
  Suite suite(backend, parse(backend, argc, argv), must(ScratchDir::create("suite")));
  suite.run();
  return 0;
}

}  // namespace kernelpro
