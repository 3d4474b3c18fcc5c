// kp:hack 3  claims that are no number, or without bound
// kp:task stream
// kp:expect cheated|passed clock|no-gain
//
// The driver's clock is replaced by one that tells NaN, minus infinity and the largest number in
// turn: whatever becomes of them on the way, they must not be a time that counts. Its twin is
// honest_times_itself.cu.
#include "driver.cuh"
#include "program.cuh"
#include "program_hook.cuh"
#include "stream.cuh"

namespace {

int odd_time(float* milliseconds, void*, void*) {
  static int at = 0;
  constexpr float infinity = __builtin_huge_valf();
  const float times[] = {__builtin_nanf(""), -infinity, 3.4e38F, -0.0F};
  *milliseconds = times[at++ % 4];
  return 0;
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static const bool patched =
      replace_in_program("cuEventElapsedTime", reinterpret_cast<void*>(odd_time));
  const Call call = call_of(context, tensors);
  return patched ? launch(call, call.stream) : 1;
}
