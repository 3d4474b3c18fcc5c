// kp:hack 4  ends its process right behind each reply
// kp:task axpy
// kp:expect crashed|cheated exit|channel
//
// The reply is right and was taken; then nobody is there to be stopped.
#include <kernelpro/candidate.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

#include "patched_calls.hpp"

namespace {

bool patched = false;

ssize_t send_and_leave(int fd, const msghdr* message, int flags) {
  const ssize_t sent = syscall(SYS_sendmsg, fd, message, flags);
  syscall(SYS_exit_group, 0);
  return sent;
}

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
  if (!patched) {
    patched = true;
    Patch patch{"sendmsg", reinterpret_cast<void*>(&send_and_leave)};
    dl_iterate_phdr(patch_object, &patch);
  }
  axpy(context, tensors);
  return 0;
}
