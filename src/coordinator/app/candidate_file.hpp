// A candidate that the user has as a file.
#pragma once

#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/candidate.hpp"
#include "common/model/task.hpp"

namespace kernelpro {

// How a candidate is to be built, in place of what the first lines of its source name.
struct BuildWishes {
  std::string compiler;              // empty: as the source says
  std::vector<std::string> options;  // the same
};

// A source with the task's entry and no kp_launch is given the adapter. A file that cannot be read
// is bad_input.
[[nodiscard]] Result<Candidate> load_candidate(const std::string& file, const Task& task,
                                               Backend backend, const BuildWishes& wishes = {});

}  // namespace kernelpro
