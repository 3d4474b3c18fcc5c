// Calls a candidate on the processors on inputs from a file, and samples where its time goes: there
// is no worker at the other end, nothing is secret and nothing is judged.
#pragma once

#include <cstdint>

namespace kernelpro::runner {

struct HostReplay {
  const char* folder = nullptr;  // as for replay.hpp
  int milliseconds = 0;  // of processor time, for calls; one at least. 0: one call, no samples
  std::int64_t cache_bytes = 0;  // sets of buffers alternate until they are twice as large as this
};

// Confines itself, loads the candidate, calls it once to warm up and then for so long. Prints
// "calls N ns T" to standard output, T the time of all N. Returns the exit code; what went wrong is
// said on standard error.
[[nodiscard]] int replay_on_host(const HostReplay& wanted);

}  // namespace kernelpro::runner
