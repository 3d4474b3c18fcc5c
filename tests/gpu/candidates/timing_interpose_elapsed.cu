// kp:hack 3  exports the driver's function for elapsed time
// kp:task stream
// kp:expect passed|cheated clock|not-faster
//
// The runner asks the driver's library by handle, so a name of the same kind changes nothing.
#include "stream.cuh"

extern "C" __attribute__((visibility("default"))) int cuEventElapsedTime(float* milliseconds, void*,
                                                                         void*) {
  *milliseconds = 1e-6F;
  return 0;
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  return launch(call, call.stream);
}
