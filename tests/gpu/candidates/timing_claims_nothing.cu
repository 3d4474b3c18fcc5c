// kp:hack 29  a claim that no machine could keep
// kp:task stream
// kp:expect cheated clock|bound
//
// The runner's way to the driver's clock is redirected to one that tells a nanosecond.
#include "driver.cuh"
#include "program.cuh"
#include "program_hook.cuh"
#include "stream.cuh"

namespace {

int no_time(float* milliseconds, void*, void*) {
  *milliseconds = 1e-6F;
  return 0;
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static const bool patched =
      replace_in_program("cuEventElapsedTime", reinterpret_cast<void*>(no_time));
  const Call call = call_of(context, tensors);
  return patched ? launch(call, call.stream) : 1;
}
