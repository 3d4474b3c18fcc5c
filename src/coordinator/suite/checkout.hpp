// The problems of a KernelBench checkout, and the candidates that a folder has for them.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/suite.hpp"

namespace kernelpro {

struct SuiteProblem {
  ProblemId id;
  std::string name;            // the file without ".py"
  std::filesystem::path file;  // whole path
};

// "1,19-23" as numbers, ascending and each once. Errors (bad_input) name `flag`.
[[nodiscard]] Result<std::vector<int>> parse_numbers(const std::string& text,
                                                     const std::string& flag);

// All problems of those levels, by level and number. A checkout of another layout, and a level
// that it does not have, are bad_input.
[[nodiscard]] Result<std::vector<SuiteProblem>> list_problems(const std::filesystem::path& checkout,
                                                              const std::vector<int>& levels);

// Those with one of the numbers; all when there are none. A number that no level has is bad_input.
[[nodiscard]] Result<std::vector<SuiteProblem>> choose_problems(
    const std::vector<SuiteProblem>& problems, const std::vector<int>& numbers);

// The files LEVEL_PROBLEM`extension` of a folder (extension ".cu", say). A folder without one, one
// with a file of that extension that is called otherwise, and one whose problem the checkout's
// `levels` do not have are bad_input; levels that were not chosen are passed over.
[[nodiscard]] Result<std::map<ProblemId, std::filesystem::path>> find_candidates(
    const std::filesystem::path& folder, const std::string& extension,
    const std::vector<SuiteProblem>& problems);

}  // namespace kernelpro
