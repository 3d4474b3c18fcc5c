// A function of the host that launches kernels, and the C++ function that says what is right.
#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "common/base/file.hpp"
#include "common/base/result.hpp"
#include "coordinator/task/create.hpp"
#include "coordinator/task/cuda_source.hpp"
#include "coordinator/task/own_function.hpp"

namespace kernelpro {

struct CudaLauncher {
  struct Parameter {
    std::string type;  // as the compiler resolved it: "float const*"
    std::string name;
  };

  std::string call;     // what stands before the parentheses: "axpy<float>"
  std::string returns;  // "cudaError_t"
  std::vector<Parameter> parameters;
  int line = 0;
};

// Errors: a kernel, with a function that launches it; what does not compile; no CUDA toolkit.
[[nodiscard]] Result<CudaLauncher> read_cuda_launcher(const OwnSource& source,
                                                      const CudaParts& parts, std::stop_token stop);

// A plain C++ function that computes the same. Its parameters have the launcher's names.
struct TrustedFunction {
  OwnSource source;
  OwnFunction function;
  std::string text;                    // the file with what it needs, as plain C++
  std::shared_ptr<ScratchDir> folder;  // where it lies for compilers
};

// The one that `request.reference` names as FILE:FUNCTION, else the one in the launcher's own file
// with its parameters: all but the stream, what is fixed and scratch memory. A bad_input error
// names the ways out where there is none, or more than one.
[[nodiscard]] Result<TrustedFunction> find_trusted(const OwnSource& source, const CudaParts& parts,
                                                   const CudaLauncher& launcher,
                                                   const NewTask& request, std::stop_token stop);

// The task of both. `only_read` are pointers that nothing is written through.
[[nodiscard]] OwnTask cuda_task(NewTask request, const CudaLauncher& launcher,
                                const std::optional<TrustedFunction>& trusted,
                                const std::vector<std::string>& only_read);

}  // namespace kernelpro
