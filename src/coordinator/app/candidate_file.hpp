// A candidate that the user has as a file or a text.
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

// The same, but that nothing beside the file is read: it is somebody else's.
[[nodiscard]] Result<Candidate> load_foreign(const std::string& file, const Task& task,
                                             Backend backend, const BuildWishes& wishes);

// The same of a text that came from elsewhere: nothing on this machine is read for it.
[[nodiscard]] Result<Candidate> candidate_of_text(const std::string& name,
                                                  const std::string& source, const Task& task,
                                                  Backend backend, const BuildWishes& wishes = {});

}  // namespace kernelpro
