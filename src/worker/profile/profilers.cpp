#include "worker/profile/profilers.hpp"

#include <algorithm>
#include <cstdlib>

#include "common/base/process.hpp"
#include "worker/toolchain/cuda.hpp"

namespace kernelpro {

namespace {

namespace fs = std::filesystem;

constexpr char trace_library_name[] = "libkernelpro_trace.so";

// Beside nvcc, where NVIDIA's packages put it, or wherever PATH has it.
std::string find_tool(const char* name, const std::vector<Compiler>& compilers) {
  const auto nvcc = std::find_if(compilers.begin(), compilers.end(), is_cuda);
  std::error_code failure;
  if (nvcc != compilers.end()) {
    const fs::path beside = toolkit_folder(*nvcc) / "bin" / name;
    if (fs::is_regular_file(beside, failure)) {
      return beside.string();
    }
  }
  return find_program(name).value_or("");
}

}  // namespace

Profilers find_profilers(const fs::path& programs, const std::vector<Compiler>& compilers) {
  Profilers out;
  const char* chosen = std::getenv("KERNELPRO_NCU");
  out.ncu = chosen != nullptr ? chosen : find_tool("ncu", compilers);
  out.disassembler = find_tool("cuobjdump", compilers);
  out.cupti = cupti_library(compilers).string();
  out.jail = (programs / "kernelpro-jail").string();
  std::error_code failure;
  for (const fs::path& place : {programs / trace_library_name,
                                programs.parent_path() / "lib" / "kernelpro" / trace_library_name,
                                programs.parent_path() / "lib" / trace_library_name}) {
    if (fs::is_regular_file(place, failure)) {
      out.trace_library = place.string();
      break;
    }
  }
  return out;
}

}  // namespace kernelpro
