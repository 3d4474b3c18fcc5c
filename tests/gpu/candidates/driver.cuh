// A function of the driver that the runner has loaded already, by name.
#include <cuda.h>
#include <dlfcn.h>

namespace {

template <typename Function>
Function driver_function(const char* name) {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  return library == nullptr ? nullptr : reinterpret_cast<Function>(dlsym(library, name));
}

}  // namespace
