// Which problems of a suite are meant. For the files of this room only.
#pragma once

#include <vector>

#include "common/base/result.hpp"
#include "coordinator/app/suite.hpp"
#include "coordinator/suite/checkout.hpp"

namespace kernelpro {

struct SuiteProblems {
  std::vector<SuiteProblem> all;  // of the levels
  std::vector<SuiteProblem> chosen;
};

[[nodiscard]] Result<SuiteProblems> find_problems(const SuiteRequest& request);

}  // namespace kernelpro
