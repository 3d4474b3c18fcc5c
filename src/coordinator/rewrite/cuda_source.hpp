// Where kernels, their loops and their launches stand in a CUDA source. Found by words and
// brackets: what macros hide is not seen.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace kernelpro {

struct CudaKernel {
  std::string name;
  std::size_t begin = 0;  // of __global__
  std::size_t body = 0;   // its opening brace
  std::size_t end = 0;    // behind its closing brace
  bool bounded = false;   // has __launch_bounds__
};

// The source with comments and literals of text blanked; every other character keeps its place.
[[nodiscard]] std::string without_text(const std::string& source);

// The functions below take what without_text returned.

// The kernels that are defined, in order.
[[nodiscard]] std::vector<CudaKernel> find_kernels(const std::string& text);

// Where each innermost `for` of the range begins.
[[nodiscard]] std::vector<std::size_t> find_innermost_loops(const std::string& text,
                                                            std::size_t begin, std::size_t end);

// The expression for the threads of a block in each launch of the kernel.
[[nodiscard]] std::vector<std::string> launch_threads(const std::string& text,
                                                      const std::string& kernel);

// The expression as one number of threads that is constant before `place`: dim3 variables become
// the product of their parts. Nothing where that cannot be seen.
[[nodiscard]] std::optional<std::string> constant_threads(const std::string& text,
                                                          const std::string& expression,
                                                          std::size_t place);

}  // namespace kernelpro
