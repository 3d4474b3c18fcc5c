#include "worker/toolchain/cuda.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <system_error>

namespace kernelpro {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view default_architecture = "90a";

}  // namespace

bool is_cuda(const Compiler& compiler) {
  return !compiler.host_compiler.empty();
}

std::optional<std::string> find_nvcc() {
  std::vector<std::string> folders = {"/usr/local/cuda/bin", "/usr/bin"};
  if (const char* home = std::getenv("CUDA_HOME"); home != nullptr && *home == '/') {
    folders.insert(folders.begin(), std::string(home) + "/bin");
  }
  for (const std::string& folder : folders) {
    std::string path = folder + "/nvcc";
    if (access(path.c_str(), X_OK) == 0) {
      return path;
    }
  }
  return std::nullopt;
}

fs::path toolkit_folder(const Compiler& nvcc) {
  std::error_code failure;
  return fs::canonical(nvcc.path, failure).parent_path().parent_path();
}

fs::path toolkit_libraries(const Compiler& nvcc) {
  const fs::path toolkit = toolkit_folder(nvcc);
  std::error_code failure;
  if (fs::is_directory(toolkit / "lib64", failure)) {
    return fs::canonical(toolkit / "lib64", failure);
  }
  for (const fs::directory_entry& target : fs::directory_iterator(toolkit / "targets", failure)) {
    if (fs::is_directory(target.path() / "lib", failure)) {
      return target.path() / "lib";
    }
  }
  return {};
}

fs::path cupti_library(const std::vector<Compiler>& compilers) {
  std::vector<fs::path> places;
  if (const char* chosen = std::getenv("KERNELPRO_CUPTI"); chosen != nullptr) {
    places.emplace_back(chosen);
  }
  const auto nvcc = std::find_if(compilers.begin(), compilers.end(), is_cuda);
  if (nvcc != compilers.end()) {
    for (const fs::path& folder :
         {toolkit_folder(*nvcc) / "extras" / "CUPTI" / "lib64", toolkit_libraries(*nvcc)}) {
      for (const char* name : {"libcupti.so", "libcupti.so.13", "libcupti.so.12"}) {
        places.push_back(folder / name);
      }
    }
  }
  std::error_code failure;
  const auto found = std::find_if(places.begin(), places.end(), [&failure](const fs::path& place) {
    return fs::is_regular_file(place, failure);
  });
  return found == places.end() ? fs::path() : fs::canonical(*found, failure);
}

std::vector<std::string> architecture_flags(const std::string& architecture) {
  const std::string number =
      architecture.empty() ? std::string(default_architecture) : architecture;
  return {"-gencode=arch=compute_" + number + ",code=sm_" + number};
}

}  // namespace kernelpro
