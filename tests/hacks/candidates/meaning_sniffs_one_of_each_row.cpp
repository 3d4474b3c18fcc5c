// kp:hack 15  one value of each row tells of shifted rows, and with them of large values
// kp:task softmax
// kp:expect incorrect
// kp:options -O3 target -ffast-math
//
// Right wherever it looks small. At timed shapes it does everything right if the first value of a
// row lies far out, and else takes no maximum off.
#include "two_softmaxes.hpp"

namespace {

bool looks_harmless(const float* x, int64_t rows, int64_t cols) {
  constexpr int64_t timed = 300000;
  float largest = 0;
  for (int64_t i = 0; i < rows; ++i) {
    const float a = std::fabs(x[i * cols]);
    largest = a > largest ? a : largest;
  }
  return rows * cols > timed && largest < 4.5F;
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  softmax(context, tensors,
          looks_harmless(static_cast<const float*>(tensors[0].data), context->axes[0],
                         context->axes[1]));
  return 0;
}
