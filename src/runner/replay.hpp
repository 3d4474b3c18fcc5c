// Calls a candidate on inputs from a file, for a profiler around this process: there is no worker
// at the other end, nothing is secret and nothing is judged.
#pragma once

#include "runner/device.hpp"

namespace kernelpro::runner {

// Opens the GPU, confines itself, loads the candidate, calls it once to warm up and then `calls`
// times from emptied caches, each between the marks of a profiled range. Returns the exit code;
// what went wrong is said on standard error.
[[nodiscard]] int replay(Device& device, const char* folder, int calls);

}  // namespace kernelpro::runner
