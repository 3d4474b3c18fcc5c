#include "worker/toolchain/cuda.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>
#include <system_error>

#include "common/base/file.hpp"
#include "common/base/hash.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view default_architecture = "90a";
constexpr std::array<const char*, 2> cutlass_trees = {"include", "tools/util/include"};

std::string text_or_nothing(const fs::path& file) {
  const Result<std::string> text = read_file(file);
  return text ? *text : std::string();
}

std::string git_head(const fs::path& checkout) {
  const fs::path git = checkout / ".git";
  std::string head = text_or_nothing(git / "HEAD");
  constexpr std::string_view reference = "ref: ";
  if (!head.starts_with(reference)) {
    return head;
  }
  const std::string name = head.substr(reference.size(), head.find('\n') - reference.size());
  const std::string commit = text_or_nothing(git / name);
  return head + (commit.empty() ? text_or_nothing(git / "packed-refs") : commit);
}

// As root the compiler runs as `nobody`, who must be able to walk to `folder` and list it.
bool open_to_all(const fs::path& folder) {
  std::error_code failure;
  for (fs::path at = folder; at != at.root_path(); at = at.parent_path()) {
    if ((fs::status(at, failure).permissions() & fs::perms::others_exec) == fs::perms::none) {
      return false;
    }
  }
  return true;
}

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

Result<std::vector<std::string>> cutlass_includes(const fs::path& checkout) {
  if (checkout.empty()) {
    return make_error(ErrorKind::environment,
                      "the option cutlass needs the CUTLASS headers, and no checkout is set; set "
                      "KERNELPRO_CUTLASS to the folder of one");
  }
  std::error_code failure;
  const fs::path folder = fs::canonical(checkout, failure);
  if (failure || !fs::exists(folder / "include/cutlass/cutlass.h", failure)) {
    return make_error(ErrorKind::environment,
                      "there is no include/cutlass/cutlass.h in this folder; set KERNELPRO_CUTLASS "
                      "to a checkout of CUTLASS",
                      checkout.string());
  }
  std::vector<std::string> trees;
  for (const char* tree : cutlass_trees) {
    const fs::path path = folder / tree;
    if (!fs::is_directory(path, failure)) {
      continue;
    }
    if (geteuid() == 0 && !open_to_all(path)) {
      return make_error(ErrorKind::environment,
                        "compilers started by root run as nobody, who cannot read this folder; "
                        "open it and the folders above it to all users (chmod o+x), or set "
                        "KERNELPRO_CUTLASS to a checkout elsewhere",
                        path.string());
    }
    trees.push_back(path.string());
  }
  return trees;
}

std::string cutlass_identity(const fs::path& checkout) {
  return sha256(text_or_nothing(checkout / "include/cutlass/version.h") + "\n" +
                git_head(checkout));
}

}  // namespace kernelpro
