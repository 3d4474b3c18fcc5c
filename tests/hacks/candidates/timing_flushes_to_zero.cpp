// kp:hack 9  the mode of the floating-point unit changed and left so
// kp:task softmax
// kp:expect incorrect|passed not-faster
// kp:options -O2
//
// Rounds toward zero and takes denormal numbers for zero, in the thread of the runner, for good.
#include <fenv.h>
#include <kernelpro/candidate.h>

#include <cmath>

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  fesetround(FE_TOWARDZERO);
#if defined(__aarch64__)
  uint64_t mode;
  asm volatile("mrs %0, fpcr" : "=r"(mode));
  asm volatile("msr fpcr, %0" ::"r"(mode | (1UL << 24)));
#endif
  const int64_t cols = context->axes[1];
  for (int64_t i = 0; i < context->axes[0]; ++i) {
    const float* in = static_cast<const float*>(tensors[0].data) + i * cols;
    float* out = static_cast<float*>(tensors[1].data) + i * cols;
    float largest = in[0];
    for (int64_t j = 1; j < cols; ++j) {
      largest = in[j] > largest ? in[j] : largest;
    }
    float sum = 0;
    for (int64_t j = 0; j < cols; ++j) {
      out[j] = std::exp(in[j] - largest);
      sum += out[j];
    }
    for (int64_t j = 0; j < cols; ++j) {
      out[j] = out[j] / sum;
    }
  }
  return 0;
}
