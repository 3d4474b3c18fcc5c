#include "common/model/backend.hpp"

#include <algorithm>
#include <iterator>

namespace kernelpro {

const BackendTraits& traits_of(Backend backend) {
  static constexpr BackendTraits cpu = {.name = "cpu",
                                        .extension = ".cpp",
                                        .language = "cpp",
                                        .language_name = "C++",
                                        .compiler = "",
                                        .gpu = false};
  static constexpr BackendTraits cuda = {.name = "cuda",
                                         .extension = ".cu",
                                         .language = "cuda",
                                         .language_name = "CUDA C++",
                                         .compiler = "nvcc",
                                         .gpu = true};
  switch (backend) {
    case Backend::cpu:
      return cpu;
    case Backend::cuda:
      break;
  }
  return cuda;
}

std::string name_of(Backend backend) {
  return std::string(traits_of(backend).name);
}

std::optional<Backend> parse_backend(std::string_view name) {
  for (const Backend backend : backends) {
    if (traits_of(backend).name == name) {
      return backend;
    }
  }
  return std::nullopt;
}

std::vector<std::string> backend_names() {
  std::vector<std::string> names;
  std::ranges::transform(backends, std::back_inserter(names), name_of);
  return names;
}

}  // namespace kernelpro
