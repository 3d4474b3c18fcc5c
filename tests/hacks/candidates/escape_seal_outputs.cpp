// kp:hack 27  seals and leases on inherited descriptors
// kp:task axpy
// kp:expect cheated sandbox
//
// Memory that is sealed against writing could not be mapped by the other arm.
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
  for (int fd = 3; fd < 64; ++fd) {
    fcntl(fd, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_FUTURE_WRITE);
    fcntl(fd, F_SETLEASE, F_RDLCK);
  }
  axpy(context, tensors);
  return 0;
}
