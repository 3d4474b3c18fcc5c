// nvcc where there is one, and whether it takes a source.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "common/base/process.hpp"

namespace kernelpro {

inline std::optional<std::string> find_nvcc() {
  if (auto found = find_program("nvcc")) {
    return found;
  }
  return find_program("/usr/local/cuda/bin/nvcc");
}

// Without a warning; the assembler's effort is no matter here.
inline Result<Finished> compile_for_cuda(const std::string& nvcc,
                                         const std::filesystem::path& source,
                                         const std::filesystem::path& object) {
  Command command;
  command.arguments = {nvcc,
                       "-c",
                       "-gencode=arch=compute_90a,code=sm_90a",
                       "-std=c++17",
                       "-Xptxas=-O0",
                       "-Xcompiler=-fPIC,-Wall,-Wextra,-Werror",
                       "-Werror=all-warnings",
                       "-I" KERNELPRO_SOURCE_DIR "/include",
                       "-o",
                       object.string(),
                       source.string()};
  command.inherit_environment = true;
  command.timeout_ms = 120'000;
  return run_command(command);
}

}  // namespace kernelpro
