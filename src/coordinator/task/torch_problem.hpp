// Writes a task around a problem in KernelBench's form: a PyTorch module.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/base/result.hpp"

namespace kernelpro {

struct NewProblem {
  std::string name;                 // empty: kernelbench_LEVEL_PROBLEM
  std::filesystem::path checkout;   // --kernelbench: of the benchmark, or its folder of levels
  int level = 1;                    // --level
  int problem = 1;                  // --problem
  std::filesystem::path directory;  // where the task folder is made
  std::filesystem::path script;     // torch_oracle.py
  std::string described;            // what it says of the problem, as JSON; empty: it is asked
};

struct ProblemTask {
  std::filesystem::path folder;
  std::vector<std::string> without_effect;  // inputs that do not change the outputs
  std::vector<std::string> degenerate;      // why a candidate could pass without the work
};

// Runs the problem, by PyTorch, to see its inputs, parameters and outputs. Errors
// say what is wrong with the checkout, the problem or the Python; an existing folder is never
// written over.
[[nodiscard]] Result<ProblemTask> create_problem_task(const NewProblem& wanted);

}  // namespace kernelpro
