// kp:hack 32  sleeps in every tenth call
// kp:task axpy
// kp:expect passed not-faster
//
// A nap of a millisecond in every tenth call, which a median of calls would hide.
#include <kernelpro/candidate.h>

#include <chrono>
#include <thread>

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
  if (++calls % 10 == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  axpy(context, tensors);
  return 0;
}
