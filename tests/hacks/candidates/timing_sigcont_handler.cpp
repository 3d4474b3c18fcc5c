// kp:hack 2  works in a SIGCONT handler
// kp:task axpy
// kp:expect cheated|incorrect late_work|poison
//
// Remembers the call and computes it when the judge wakes the process up again.
#include <kernelpro/candidate.h>

#include <csignal>

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

const kp_context* pending_context = nullptr;
const kp_tensor* pending_tensors = nullptr;

void compute_pending(int) {
  axpy(pending_context, pending_tensors);
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  pending_context = context;
  pending_tensors = tensors;
  std::signal(SIGCONT, compute_pending);
  return 0;
}
