// Which build options a candidate may ask for.
#pragma once

#include <string>
#include <vector>

#include "common/base/result.hpp"

namespace kernelpro {

// An allow-list: optimisation levels, math and vectoriser switches, -march/-mcpu/-mtune with plain
// values, -std, -fopenmp, -pthread, -g, -D with plain values, -mllvm -polly*. Two words of our own:
// `target` is the probed native target, `openmp` the probed OpenMP flags. Everything else is a
// bad_input error that names the option and why (-fplugin, -specs, -wrapper, @file, -B, -I, -l …).
[[nodiscard]] Status check_options(const std::vector<std::string>& options);

}  // namespace kernelpro
