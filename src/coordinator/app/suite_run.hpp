// Goes through the problems of a suite: PyTorch's times, then the candidate.
#pragma once

#include <filesystem>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "common/base/process.hpp"
#include "common/base/result.hpp"
#include "common/model/suite.hpp"
#include "coordinator/app/progress.hpp"
#include "coordinator/app/suite_judge.hpp"
#include "coordinator/suite/checkout.hpp"
#include "coordinator/suite/suite_file.hpp"

namespace kernelpro {

// What is to be measured.
struct SuitePlan {
  std::vector<SuiteProblem> problems;
  std::map<ProblemId, std::filesystem::path> candidates;
  std::vector<std::string> modes;  // of PyTorch
};

// What it is measured on.
struct SuitePlace {
  SuiteHeader header;
  std::string lock;  // the device's, for MachineLock
  Command survey;    // `PYTHON torch_oracle.py survey`
};

// Measures what the file does not have yet and adds it, problem by problem. `interrupted` says how
// far it came.
[[nodiscard]] Status run_suite(const SuiteRequest& request, const SuitePlan& plan,
                               const SuitePlace& place, SuiteJudge& judge, SuiteFile& file,
                               const Watcher& watcher, std::stop_token stop);

}  // namespace kernelpro
