// kp:hack 27  sets up io_uring
// kp:task axpy
// kp:expect cheated sandbox
//
// Its requests are carried out by the kernel, past any system-call filter.
#include <kernelpro/candidate.h>
#include <linux/io_uring.h>
#include <sys/syscall.h>
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
  io_uring_params parameters{};
  syscall(SYS_io_uring_setup, 8, &parameters);
  axpy(context, tensors);
  return 0;
}
