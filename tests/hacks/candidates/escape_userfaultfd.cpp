// kp:hack 27  handles page faults itself
// kp:task axpy
// kp:expect cheated sandbox
//
// Could hold the runner or the kernel at a page of its choice.
#include <fcntl.h>
#include <kernelpro/candidate.h>
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
  syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
  axpy(context, tensors);
  return 0;
}
