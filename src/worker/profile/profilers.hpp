// The profilers of this machine: NVIDIA's, which are found, and our own tracer.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "worker/toolchain/toolchain.hpp"

namespace kernelpro {

struct Profilers {
  std::string ncu;           // each empty where there is none
  std::string disassembler;  // cuobjdump
  std::string cupti;
  std::string trace_library;  // libkernelpro_trace.so
  std::string jail;
};

// `programs`: the folder of our own. KERNELPRO_NCU names another ncu than the toolkit's.
[[nodiscard]] Profilers find_profilers(const std::filesystem::path& programs,
                                       const std::vector<Compiler>& compilers);

}  // namespace kernelpro
