// kp:hack 30  a thread that spins between calls
// kp:task axpy
// kp:expect passed not-faster
//
// Keeps a thread busy for ever, to slow the incumbent while it is timed.
#include <kernelpro/candidate.h>

#include <thread>

namespace {

bool spinning = false;

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
  if (!spinning) {
    spinning = true;
    std::thread([] {
      for (;;) {
        asm volatile("" ::: "memory");
      }
    }).detach();
  }
  axpy(context, tensors);
  return 0;
}
