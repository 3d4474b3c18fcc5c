// A session over standard input and output, and the processes of its jobs.
#pragma once

#include <filesystem>
#include <stop_token>

#include "common/base/result.hpp"

namespace kernelpro::mcp {

// Serves until the input ends, nobody reads the output, or a stop is asked for. Jobs go on.
[[nodiscard]] Status serve_stdio(const std::filesystem::path& store, std::stop_token stop);

}  // namespace kernelpro::mcp
