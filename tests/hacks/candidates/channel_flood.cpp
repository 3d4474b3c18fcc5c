// kp:hack 4  control socket flooded
// kp:task axpy
// kp:expect cheated channel
//
// Sends ten thousand messages of odd sizes down the control socket, without waiting.
#include <kernelpro/candidate.h>
#include <sys/socket.h>

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
  const char noise[700] = {};
  for (size_t i = 0; i < 10'000; ++i) {
    send(3, noise, i % sizeof noise, MSG_NOSIGNAL | MSG_DONTWAIT);
  }
  axpy(context, tensors);
  return 0;
}
