// A suite of problems: PyTorch's times, and candidates judged against them.
#pragma once

#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/suite.hpp"
#include "coordinator/app/open_run.hpp"
#include "coordinator/app/progress.hpp"
#include "coordinator/suite/checkout.hpp"

namespace kernelpro {

struct SuiteRequest {
  std::filesystem::path checkout;  // of KernelBench
  std::string levels = "1,2,3";
  std::string problems;              // "1,19-23"; empty: all
  std::filesystem::path candidates;  // folder with LEVEL_PROBLEM.cu (.cpp on the CPU); empty: none
  bool compile = false;              // torch.compile is timed as well
  std::filesystem::path into = "kernelbench.jsonl";
  double limit_seconds = 900;  // that PyTorch gets for one problem
  bool retry = false;          // what failed or was not judged
  // How each problem is searched by models, its task aside. What it says of judging and of lower
  // precisions counts for measuring too.
  OptimizeRequest search;
  RunChanges changes;  // of runs that are there already
};

// What a file of results holds of the problems that were asked for.
struct SuiteResult {
  SuiteHeader header;
  std::vector<SuiteRecord> records;
  std::optional<Error> error;  // why there is no more
};

// Measures what the file does not have yet and adds it, problem by problem.
[[nodiscard]] Result<SuiteResult> measure_suite(const SuiteRequest& request, const Watcher& watcher,
                                                std::stop_token stop);

// All that a file holds.
[[nodiscard]] Result<SuiteResult> read_suite(const std::filesystem::path& file);

// How the search on one problem stands.
struct ProblemSearch {
  SuiteProblem problem;
  std::string run;      // empty: there is none
  std::string state;    // "finished", "waiting", or why there is none
  bool failed = false;  // the state says why
  Awaited awaited;      // while it waits
  std::int64_t judged = 0;
  double speedup = 0;  // of the best; 0: nothing beats the module
};

// Works on one run a problem, as far as each gets: all may wait in one batch. A run is begun where
// the store has none for the problem's task, and taken up where it has one. The best of a finished
// one is written into the folder of candidates. Errors are about all of them; what is wrong with
// one problem stands in its state.
[[nodiscard]] Result<std::vector<ProblemSearch>> search_suite(const SuiteRequest& request,
                                                              const Watcher& watcher,
                                                              std::stop_token stop);

}  // namespace kernelpro
