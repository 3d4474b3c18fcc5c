// kp:hack 27  truncates inherited descriptors
// kp:task axpy
// kp:expect cheated sandbox
//
// Cuts every descriptor it inherited to nothing, so that the worker would fault on its own
// buffers.
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
  for (int fd = 3; fd < 64; ++fd) {
    [[maybe_unused]] const int status = ftruncate(fd, 0);
  }
  axpy(context, tensors);
  return 0;
}
