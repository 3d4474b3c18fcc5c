// The command about suites.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/wire/worker_line.hpp"
#include "coordinator/app/suite.hpp"
#include "coordinator/cli/commands.hpp"
#include "coordinator/cli/run_output.hpp"
#include "coordinator/cli/watched.hpp"
#include "coordinator/report/kernelbench_comparison.hpp"
#include "coordinator/report/kernelbench_table.hpp"
#include "coordinator/report/table.hpp"
#include "coordinator/suite/suite_file.hpp"
#include "coordinator/suite/suite_json.hpp"

namespace kernelpro {
namespace {

constexpr const char* nothing = "–";

std::string header_text(const SuiteHeader& header, std::size_t problems) {
  return fmt::format("KernelBench{} on {}, PyTorch {}, backend {}{}: {} problem{}\n\n",
                     header.kernelbench.empty() ? "" : " " + header.kernelbench.substr(0, 7),
                     header.machine, header.torch, name_of(header.backend),
                     header.conditions.empty() ? "" : ", " + header.conditions, problems,
                     problems == 1 ? "" : "s");
}

nlohmann::json result_json(const SuiteResult& result, const SuiteSummary& summary) {
  nlohmann::json json = suite_json(summary);
  json["header"] = to_json(result.header);
  json["problems"] = nlohmann::json::array();
  for (const SuiteRecord& record : result.records) {
    nlohmann::json one = to_json(record);
    one.erase("described");
    json["problems"].push_back(std::move(one));
  }
  if (result.error) {
    json["error"] = to_json(*result.error);
  }
  return json;
}

// Prints what there is.
int print_suite(const Options& options, const Result<SuiteResult>& result) {
  if (!result) {
    return report_error(options, result.error());
  }
  const std::vector<SuiteRecord>& records = result->records;
  const bool with_candidates =
      !options.suite.candidates.empty() ||
      std::ranges::any_of(records, [](const SuiteRecord& r) { return r.candidate.has_value(); });
  const SuiteSummary summary =
      summarize_suite(records, with_candidates, options.changes.accept_suspect);
  if (options.json) {
    print_json(result_json(*result, summary));
  } else if (!records.empty()) {
    fmt::print("{}{}{}", header_text(result->header, records.size()),
               options.verbose ? suite_listing(records) + "\n" : "", suite_text(summary));
  }
  if (result->error) {
    print_error(*result->error);
    return exit_code_of(*result->error);
  }
  return exit_done;
}

int measure(const Options& options, std::stop_token stop) {
  return print_suite(options, watched(options, [&](const Watcher& watcher) {
                       return measure_suite(options.suite, watcher, stop);
                     }));
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

// Models write candidates first; what is not finished waits, and is not measured yet.
int search_and_measure(const Options& options, std::stop_token stop) {
  const Result<std::vector<ProblemSearch>> searches = watched(
      options, [&](const Watcher& watcher) { return search_suite(options.suite, watcher, stop); });
  if (!searches) {
    return report_error(options, searches.error());
  }
  fmt::print(stderr, "{}", searches_text(*searches));
  const RunSettings& settings = options.suite.search.settings;
  const bool for_models = std::ranges::any_of(
      *searches, [](const ProblemSearch& one) { return one.awaited.answers > 0; });
  const bool for_results = std::ranges::any_of(
      *searches, [](const ProblemSearch& one) { return one.awaited.results > 0; });
  if (for_models) {
    print_waiting_for_models(*settings.llm, "this command again");
  }
  if (for_results) {
    print_waiting(settings.workers, settings.judging,
                  "this command again; each task has its own such file");
  }
  if (for_models || for_results) {
    return exit_waiting;
  }
  if (std::ranges::all_of(*searches, &ProblemSearch::failed)) {
    return exit_environment;
  }
  return settings.workers.scheme == WorkerScheme::bundle ? exit_done : measure(options, stop);
}

int compare_results(const Options& options) {
  const Result<SuiteResult> here = read_suite(options.suite.into);
  const Result<SuiteResult> there =
      here ? read_suite(options.against) : Result<SuiteResult>(here.error());
  if (!there) {
    return report_error(options, there.error());
  }
  const Result<SuiteComparison> comparison =
      compare_suites(here->records, there->records, options.changes.accept_suspect);
  if (!comparison) {
    return report_error(options, comparison.error());
  }
  const std::vector<std::string> differ = header_differences(there->header, here->header);
  if (options.json) {
    nlohmann::json json = comparison_json(*comparison);
    json["differences"] = differ;
    print_json(json);
    return exit_done;
  }
  fmt::print("{}",
             comparison_text(*comparison, options.suite.into.string(), options.against.string()));
  for (const std::string& difference : differ) {
    fmt::print("measured elsewhere: {}\n", difference);
  }
  return exit_done;
}

}  // namespace

int bench_kernelbench_command(const Options& options, std::stop_token stop) {
  if (!options.against.empty()) {
    return compare_results(options);
  }
  if (options.suite.checkout.empty()) {
    return print_suite(options, read_suite(options.suite.into));
  }
  return options.llm.empty() ? measure(options, stop) : search_and_measure(options, stop);
}

}  // namespace kernelpro
