// Which build options a candidate may ask for.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace kernelpro {

// An option that is not allowed.
struct RefusedOption {
  std::string message;       // names it, why, and what is allowed
  bool reaches_out = false;  // it would let a build read, run or write what is not the candidate's;
                             // else it is merely not on the list, or misspelled
};

// An allow-list: optimization levels, math and vectorizer switches, -march/-mcpu/-mtune with plain
// values, -std, -fopenmp, -pthread, -g, -D with plain values, -mllvm -polly*. Two words of our own:
// `target` is the probed native target, `openmp` the probed OpenMP flags. Everything else is
// refused (-fplugin, -specs, -wrapper, @file, -B, -I, -l …).
[[nodiscard]] std::optional<RefusedOption> refused_option(const std::vector<std::string>& options);

// The list for nvcc: -O0 to -O3, -std=c++17 or c++20, -D and -U with plain values, the switches of
// device arithmetic, -maxrregcount, a few language switches, -diag-suppress, and -Xptxas followed
// by words of a list of its own.
[[nodiscard]] std::optional<RefusedOption> refused_cuda_option(
    const std::vector<std::string>& options);

}  // namespace kernelpro
