// A candidate that the user has as a file.
#pragma once

#include <string>

#include "common/base/result.hpp"
#include "common/model/candidate.hpp"
#include "coordinator/cli/options.hpp"

namespace kernelpro {

// Compiler and build options are those of the command line, else those that the source's first
// lines name. A file that cannot be read is bad_input.
[[nodiscard]] Result<Candidate> load_candidate(const std::string& file, const Options& options);

}  // namespace kernelpro
