// A candidate that the user has as a file.
#pragma once

#include <string>

#include "common/base/result.hpp"
#include "common/model/candidate.hpp"
#include "common/model/task.hpp"
#include "coordinator/cli/options.hpp"

namespace kernelpro {

// Compiler and build options are those of the command line, else those that the source's first
// lines name. A source with the task's entry and no kp_launch is given the adapter. A file that
// cannot be read is bad_input.
[[nodiscard]] Result<Candidate> load_candidate(const std::string& file, const Options& options,
                                               const Task& task);

}  // namespace kernelpro
