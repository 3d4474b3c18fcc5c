// kp:hack 3  the runner's way to the driver's clock is redirected
// kp:task stream
// kp:expect cheated clock
//
// Finds cuEventElapsedTime in the runner's table and puts a function there that tells half of the
// time.
#include "driver.cuh"
#include "program.cuh"
#include "program_hook.cuh"
#include "stream.cuh"

namespace {

using Elapsed = int (*)(float*, void*, void*);
Elapsed real_elapsed = nullptr;

int half_elapsed(float* milliseconds, void* begin, void* end) {
  const int code = real_elapsed(milliseconds, begin, end);
  *milliseconds *= 0.5F;
  return code;
}

bool patch() {
  real_elapsed = driver_function<Elapsed>("cuEventElapsedTime");
  return replace_in_program("cuEventElapsedTime", reinterpret_cast<void*>(half_elapsed));
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static const bool patched = patch();
  const Call call = call_of(context, tensors);
  return patched ? launch(call, call.stream) : 1;
}
