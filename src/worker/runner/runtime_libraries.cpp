#include <filesystem>
#include <string_view>

#include "worker/runner/runner_process.hpp"

namespace kernelpro {

namespace {

constexpr std::string_view names[] = {
    "libc.so.6",       "libm.so.6",      "libmvec.so.1",          "libdl.so.2",
    "libpthread.so.0", "librt.so.1",
    "libutil.so.1",  // CUPTI needs it
    "libgcc_s.so.1",   "libstdc++.so.6", "libgomp.so.1",          "libomp.so.5",
    "libomp.so",       "libatomic.so.1", "ld-linux-aarch64.so.1", "ld-linux-x86-64.so.2"};

constexpr std::string_view folders[] = {"/lib/aarch64-linux-gnu",
                                        "/usr/lib/aarch64-linux-gnu",
                                        "/lib/x86_64-linux-gnu",
                                        "/usr/lib/x86_64-linux-gnu",
                                        "/lib64",
                                        "/usr/lib64",
                                        "/lib",
                                        "/usr/lib/llvm-19/lib"};

}  // namespace

std::vector<std::string> runtime_libraries() {
  // LLVM's OpenMP refuses to start without the processor list.
  std::vector<std::string> found = {"/etc/ld.so.cache", "/proc/cpuinfo"};
  for (const std::string_view folder : folders) {
    for (const std::string_view name : names) {
      std::error_code failure;
      const std::filesystem::path real =
          std::filesystem::canonical(std::filesystem::path(folder) / name, failure);
      if (!failure) {
        found.push_back(real.string());
      }
    }
  }
  return found;
}

}  // namespace kernelpro
