// The files of a job that is replayed.
#pragma once

#include <cstddef>
#include <string>

#include "common/base/runner_protocol.hpp"

namespace kernelpro::runner {

struct ReplayFiles {
  Layout layout{};
  const char* inputs = nullptr;  // mapped, for as long as the process lives
  std::size_t input_bytes = 0;
};

// `folder` ends with a slash. False: it holds no job.
[[nodiscard]] bool read_replay(const std::string& folder, ReplayFiles& files);

}  // namespace kernelpro::runner
