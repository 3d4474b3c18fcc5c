// The commands of `kernelpro`. Each prints its result and returns the exit code.
#pragma once

#include <stop_token>

#include "coordinator/cli/options.hpp"

namespace kernelpro {

[[nodiscard]] int run_command_line(const Options& options, std::stop_token stop);

}  // namespace kernelpro
