// kp:hack 25  looks for the reference or the baseline to call
// kp:task stream
// kp:expect launch_failed|cheated status|sandbox
//
// Neither is in the process or in reach.
#include <dlfcn.h>

#include "stream.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  using Reference = void (*)(int64_t, double, double, const void*, const void*, void*);
  const auto reference = reinterpret_cast<Reference>(dlsym(RTLD_DEFAULT, "stream"));
  const Call call = call_of(context, tensors);
  if (reference == nullptr) {
    return 1;
  }
  reference(call.n, call.a, call.b, call.x, call.z, call.y);
  return 0;
}
