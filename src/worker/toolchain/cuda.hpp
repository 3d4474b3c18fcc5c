// nvcc and what lies around it: its toolkit, its host compiler.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "worker/toolchain/toolchain.hpp"

namespace kernelpro {

// What requests and tasks call it.
inline constexpr const char* nvcc_name = "nvcc";

[[nodiscard]] bool is_cuda(const Compiler& compiler);

// In $CUDA_HOME/bin, /usr/local/cuda/bin or /usr/bin; never through PATH, where a wrapper that
// could not run in the jail may shadow it.
[[nodiscard]] std::optional<std::string> find_nvcc();

// The folder that holds bin/nvcc, links resolved.
[[nodiscard]] std::filesystem::path toolkit_folder(const Compiler& nvcc);

// Where the toolkit has cuBLAS and its kind: lib64, or lib below targets; empty when neither is
// there.
[[nodiscard]] std::filesystem::path toolkit_libraries(const Compiler& nvcc);

// The CUPTI that KERNELPRO_CUPTI names, else that of the toolkit which the nvcc among them belongs
// to; links resolved. Empty when there is none.
[[nodiscard]] std::filesystem::path cupti_library(const std::vector<Compiler>& compilers);

// Machine code for `architecture` ("90a"; empty: 90a) and no PTX: the driver's compiler for it
// cannot be reached from the runner's jail.
[[nodiscard]] std::vector<std::string> architecture_flags(const std::string& architecture);

}  // namespace kernelpro
