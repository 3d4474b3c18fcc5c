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

// The list for nvcc: -O0 to -O3, -std=c++17 or c++20, -D and -U with plain values, the switches of
// device arithmetic, -maxrregcount, a few language switches, -diag-suppress, and -Xptxas followed
// by words of a list of its own. One word of our own: `cutlass` adds the CUTLASS headers.
[[nodiscard]] Status check_cuda_options(const std::vector<std::string>& options);

}  // namespace kernelpro
