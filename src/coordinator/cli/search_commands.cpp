// The commands about searches: `tune`, `simulate` and those of `landscape`.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "coordinator/cli/commands.hpp"
#include "coordinator/cli/watched.hpp"
#include "coordinator/report/table.hpp"

namespace kernelpro {

namespace {

constexpr std::size_t most_shown = 10;

// Each program once, the fastest first.
std::vector<const Tuned*> fastest(const TuneResult& result) {
  std::vector<const Tuned*> all;
  for (const Tuned& one : result.tried) {
    if (one.speedup > 0 && !one.duplicate) {
      all.push_back(&one);
    }
  }
  std::ranges::sort(all, std::greater<>(), &Tuned::speedup);
  all.resize(std::min(all.size(), most_shown));
  return all;
}

void print_tuned(const TuneResult& result) {
  const auto failed = std::ranges::count_if(
      result.tried, [](const Tuned& one) { return one.outcome != Outcome::passed; });
  fmt::print("{} evaluations, {} configurations tried, {} failed; speed-up over {}\n\n",
             result.evaluations, result.tried.size(), failed,
             result.over_baseline ? "the baseline: the source as it is does not pass"
                                  : "the source as it is");
  Table table({"speed-up", "values"});
  for (const Tuned* one : fastest(result)) {
    table.add({fmt::format("{:.3f}", one->speedup), one->values});
  }
  fmt::print("{}", table.text());
  if (!result.confirmed) {
    fmt::print("\nnothing better was found\n");
    return;
  }
  const Timing& timing = result.confirmed->certificate.verdict.timing;
  fmt::print("\nbest: {}\nmeasured again: {:.3f} times as fast, 95 % interval [{:.3f}, {:.3f}]\n",
             result.tried[result.best].values, timing.speedup, timing.speedup_interval.low,
             timing.speedup_interval.high);
}

bool is_faster(const TuneResult& result) {
  return result.confirmed &&
         result.confirmed->certificate.verdict.timing.comparison == Comparison::faster;
}

}  // namespace

int tune_command(const Options& options, std::stop_token stop) {
  const Result<TuneResult> done =
      watched(options, [&](const Watcher& watcher) { return tune(options.tune, watcher, stop); });
  return print_result(options, done, print_tuned, [](const TuneResult& result) {
    return is_faster(result) ? exit_done : exit_not_passed;
  });
}

int simulate_command(const Options& options, std::stop_token stop) {
  SimulateRequest request = options.simulate;
  if (request.settings.searches.empty()) {
    request.settings.searches = {"tuner", "greedy", "mcts", "random", "uniform"};
  }
  const Result<Simulation> done = watched(
      options, [&](const Watcher& watcher) { return simulate_landscapes(request, watcher, stop); });
  return print_result(options, done, [](const Simulation& simulation) {
    fmt::print("{}", simulation_text(simulation));
  });
}

int landscape_agents_command(const Options& options, std::stop_token /*stop*/) {
  const Result<std::vector<std::filesystem::path>> done =
      write_agent_landscapes(options.agents_into);
  if (!done) {
    return report_error(options, done.error());
  }
  if (options.json) {
    nlohmann::json files = nlohmann::json::array();
    for (const std::filesystem::path& file : *done) {
      files.push_back(file.string());
    }
    print_json({{"files", std::move(files)}});
    return exit_done;
  }
  fmt::print("{} models of agents in {}\n", done->size(), options.agents_into.string());
  return exit_done;
}

int landscape_import_command(const Options& options, std::stop_token stop) {
  const Result<std::vector<ImportedLandscape>> done = watched(options, [&](const Watcher& watcher) {
    return import_landscapes(options.import, watcher, stop);
  });
  return print_result(options, done, [](const std::vector<ImportedLandscape>& all) {
    for (const ImportedLandscape& one : all) {
      fmt::print("{}: {} programs, {} passed\n", one.file.string(), one.programs, one.passed);
    }
  });
}

}  // namespace kernelpro
