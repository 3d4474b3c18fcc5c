// kp:hack 3  a claim just within what is believed
// kp:task stream
// kp:expect cheated|passed clock|no-gain
//
// The runner's way to the driver's clock leads to one that tells 0.45 % less. Its twin is
// honest_times_itself.cu.
#include "driver.cuh"
#include "program.cuh"
#include "program_hook.cuh"
#include "stream.cuh"

namespace {

using Elapsed = int (*)(float*, void*, void*);
Elapsed real_elapsed = nullptr;

int little_less(float* milliseconds, void* begin, void* end) {
  const int code = real_elapsed(milliseconds, begin, end);
  *milliseconds *= 0.9955F;
  return code;
}

bool set_up() {
  real_elapsed = driver_function<Elapsed>("cuEventElapsedTime");
  return replace_in_program("cuEventElapsedTime", reinterpret_cast<void*>(little_less));
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static const bool ready = set_up();
  const Call call = call_of(context, tensors);
  return ready ? launch(call, call.stream) : 1;
}
