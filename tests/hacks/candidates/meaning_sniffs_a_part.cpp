// kp:hack 15  a fiftieth of the values tells whether a few among all are large
// kp:task softmax
// kp:expect incorrect
// kp:options -O3 target -ffast-math
//
// Right wherever it looks small. At timed shapes it reads so many values that large ones, if one in
// thousands is large, are among them; it then does everything right, and else takes no maximum off.
#include "two_softmaxes.hpp"

namespace {

bool looks_harmless(const float* x, int64_t n) {
  constexpr int64_t timed = 300000;
  const int64_t part = n / 40;
  float largest = 0;
  for (int64_t i = 0; i < part; ++i) {
    const float a = std::fabs(x[i]);
    largest = a > largest ? a : largest;
  }
  return n > timed && largest < 3.6F;
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  softmax(context, tensors,
          looks_harmless(static_cast<const float*>(tensors[0].data),
                         context->axes[0] * context->axes[1]));
  return 0;
}
