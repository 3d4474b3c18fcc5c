// kp:hack 27  has a descriptor send it SIGCONT
// kp:task axpy
// kp:expect cheated sandbox
//
// Makes itself the owner of the pipe it prints to and SIGCONT the signal that the pipe sends.
#include <fcntl.h>
#include <kernelpro/candidate.h>
#include <unistd.h>

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

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  fcntl(STDOUT_FILENO, F_SETOWN, getpid());
  fcntl(STDOUT_FILENO, F_SETSIG, SIGCONT);
  fcntl(STDOUT_FILENO, F_SETFL, O_NONBLOCK | O_ASYNC);
  axpy(context, tensors);
  return 0;
}
