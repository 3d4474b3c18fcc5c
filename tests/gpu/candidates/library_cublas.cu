// kp:hack 23  cuBLAS opened at run time
// kp:task stream
// kp:expect cheated|launch_failed sandbox|status
//
// The files of vendor libraries cannot be read.
#include <dlfcn.h>

#include "stream.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  void* library = nullptr;
  for (const char* name : {"libcublas.so.13", "libcublas.so.12", "libcublas.so",
                           "/usr/local/cuda/lib64/libcublas.so"}) {
    library = library == nullptr ? dlopen(name, RTLD_NOW) : library;
  }
  const Call call = call_of(context, tensors);
  return library == nullptr ? 1 : launch(call, call.stream);
}
