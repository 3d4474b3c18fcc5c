// A CUDA source taken apart: what any C++ compiler can read of it, and what belongs to the GPU.
#pragma once

#include <string>
#include <vector>

namespace kernelpro {

struct CudaFunction {
  std::string name;  // with its namespaces
  bool is_kernel = false;
  bool is_plain = false;           // neither it nor what it calls belongs to CUDA
  std::vector<std::string> types;  // of its parameters, as written
  std::vector<std::string> names;
  int line = 0;
};

struct CudaParts {
  std::vector<CudaFunction> functions;  // that are defined outside of classes
  std::string plain;     // C++ without kernels, launches, calls of the CUDA runtime and main()
  std::string declared;  // all of it, with empty bodies where CUDA is used; lines are kept
};

[[nodiscard]] CudaParts take_cuda_apart(const std::string& source);

// C++ without the declarations that the function of that last name does not need; lines are kept.
[[nodiscard]] std::string needed_by(const std::string& source, const std::string& function);

// Where the toolkit's headers are; empty: nowhere.
[[nodiscard]] std::string cuda_headers();

}  // namespace kernelpro
