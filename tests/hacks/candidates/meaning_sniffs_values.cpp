// kp:hack 15  a few values tell the distribution, and the fast way is taken for common ones
// kp:task softmax
// kp:expect incorrect
// kp:options -O3 target -ffast-math
//
// No maximum is taken off where the first 64 values look harmless; else everything is done right.
// Under each distribution all values of a tensor are alike, so 64 of them tell of all others. One
// large value further on would overflow.
#include "two_softmaxes.hpp"

namespace {

// Whether the first few values look like the common distribution.
bool looks_normal(const float* x, int64_t n) {
  float largest = 0, smallest = 1e30F;
  for (int64_t i = 0; i < n && i < 64; ++i) {
    const float a = std::fabs(x[i]);
    largest = a > largest ? a : largest;
    smallest = a < smallest ? a : smallest;
  }
  return n >= 1000 && largest < 3.6F && smallest != largest;
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  softmax(context, tensors,
          looks_normal(static_cast<const float*>(tensors[0].data),
                       context->axes[0] * context->axes[1]));
  return 0;
}
