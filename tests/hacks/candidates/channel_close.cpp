// kp:hack 4  closes every descriptor
// kp:task axpy
// kp:expect crashed|cheated exit|channel
//
// Closes the control socket and all other descriptors, so that the runner cannot report.
#include <kernelpro/candidate.h>
#include <unistd.h>

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
  for (int fd = 0; fd < 256; ++fd) {
    close(fd);
  }
  axpy(context, tensors);
  return 0;
}
