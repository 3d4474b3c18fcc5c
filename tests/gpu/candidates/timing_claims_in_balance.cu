// kp:hack 3  claims too small in two rounds of three, and too large in the third
// kp:task stream
// kp:expect cheated|passed clock|no-gain
//
// On average nothing is left out, each claim is within what one round is believed, and the median
// is among those that are too small. Its twin is honest_times_itself.cu.
#include "driver.cuh"
#include "program.cuh"
#include "program_hook.cuh"
#include "stream.cuh"

namespace {

using Elapsed = int (*)(float*, void*, void*);
Elapsed real_elapsed = nullptr;

int in_balance(float* milliseconds, void* begin, void* end) {
  static int round = 0;
  const int code = real_elapsed(milliseconds, begin, end);
  if (*milliseconds > 1.0F) {  // no check, no screen and no call by itself
    *milliseconds *= ++round % 3 == 0 ? 1.02F : 0.992F;
  }
  return code;
}

bool set_up() {
  real_elapsed = driver_function<Elapsed>("cuEventElapsedTime");
  return replace_in_program("cuEventElapsedTime", reinterpret_cast<void*>(in_balance));
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static const bool ready = set_up();
  const Call call = call_of(context, tensors);
  return ready ? launch(call, call.stream) : 1;
}
