// kp:hack 32  a tenth of the calls does ten times the work
// kp:task axpy
// kp:expect passed not-faster
//
// Nine calls in ten are plain and the tenth is ten times slower: a median of calls would not show
// it, the mean of a round does.
#include <kernelpro/candidate.h>

namespace {

void axpy(const kp_context* context, const kp_tensor* tensors) {
  const auto alpha = static_cast<float>(context->scalars[0]);
  const auto* x = static_cast<const float*>(tensors[0].data);
  const auto* y = static_cast<const float*>(tensors[1].data);
  auto* out = static_cast<float*>(tensors[2].data);
  for (int64_t i = 0; i < context->axes[0]; ++i) {
    out[i] = alpha * x[i] + y[i];
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static int calls = 0;
  const int repeats = ++calls % 10 == 0 ? 10 : 1;
  for (int i = 0; i < repeats; ++i) {
    axpy(context, tensors);
    asm volatile("" ::: "memory");
  }
  return 0;
}
