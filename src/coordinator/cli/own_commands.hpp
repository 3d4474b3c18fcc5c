// `optimize FILE:FUNCTION`: a task made on the way, and a patch at the end.
#pragma once

#include <stop_token>

#include "coordinator/options/options.hpp"

namespace kernelpro {

// Whether what is to be optimized is a function in a file.
[[nodiscard]] bool is_own_function(const Options& options);

[[nodiscard]] int optimize_own_command(const Options& options, std::stop_token stop);

}  // namespace kernelpro
