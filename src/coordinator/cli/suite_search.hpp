// A search by models for each problem of a suite.
#pragma once

#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "coordinator/cli/options.hpp"
#include "coordinator/cli/run_output.hpp"
#include "coordinator/suite/checkout.hpp"

namespace kernelpro {

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
[[nodiscard]] Result<std::vector<ProblemSearch>> search_suite(
    const Options& options, const std::vector<SuiteProblem>& problems,
    const std::filesystem::path& script, std::stop_token stop);

[[nodiscard]] std::string searches_text(const std::vector<ProblemSearch>& searches);

}  // namespace kernelpro
