// kp:hack 27  signals by O_ASYNC
// kp:task axpy
// kp:expect cheated sandbox
//
// The flag alone: whoever owns the control socket would be sent a signal for each message.
#include <fcntl.h>
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
  fcntl(3, F_SETFL, fcntl(3, F_GETFL) | O_ASYNC);
  axpy(context, tensors);
  return 0;
}
