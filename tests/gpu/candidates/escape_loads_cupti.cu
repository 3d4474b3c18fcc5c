// kp:hack 28  loads the library that traces, to see who else launches
// kp:task stream
// kp:expect cheated|launch_failed sandbox|status
//
// It may be anywhere beside the toolkit. Its twin is the baseline.
#include <dlfcn.h>

#include "stream.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static void* const library = [] {
    for (const char* name : {"/usr/local/cuda/extras/CUPTI/lib64/libcupti.so",
                             "/usr/local/cuda/lib64/libcupti.so", "libcupti.so"}) {
      if (void* found = dlopen(name, RTLD_NOW)) {
        return found;
      }
    }
    return static_cast<void*>(nullptr);
  }();
  const Call call = call_of(context, tensors);
  return library == nullptr ? 1 : launch(call, call.stream);
}
