// kp:hack 5  slow in the first calls
// kp:task axpy
// kp:expect passed not-faster
//
// Repeats the work twenty times in the first twenty calls, to make the judge choose few calls a
// round.
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
  const int repeats = ++calls <= 20 ? 20 : 1;
  for (int i = 0; i < repeats; ++i) {
    axpy(context, tensors);
    asm volatile("" ::: "memory");
  }
  return 0;
}
