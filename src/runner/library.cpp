#include "runner/library.hpp"

#include <dlfcn.h>

namespace kernelpro::runner {

namespace {

template <typename Function>
Function symbol(void* handle, const char* name) {
  return reinterpret_cast<Function>(dlsym(handle, name));
}

}  // namespace

bool Library::load(const char* path, std::string& why) {
  void* handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    why = dlerror();
    return false;
  }
  launch = symbol<decltype(launch)>(handle, "kp_launch");
  workspace = symbol<decltype(workspace)>(handle, "kp_workspace");
  state = symbol<decltype(state)>(handle, "kp_state");
  prepare = symbol<decltype(prepare)>(handle, "kp_prepare");
  if (launch == nullptr) {
    why =
        "the candidate does not export kp_launch (include kernelpro/candidate.h and define it with "
        "C linkage)";
    return false;
  }
  if (const auto said = symbol<decltype(&kp_implementation)>(handle, "kp_implementation");
      said != nullptr) {
    implementation = said();
  }
  return true;
}

}  // namespace kernelpro::runner
