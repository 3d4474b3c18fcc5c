// kp:hack 4  a reply with a status that does not exist
// kp:task axpy
// kp:expect cheated channel
//
// All else is right: kind, sequence and calls. What cannot be explained is nobody's fault, or so it
// hopes: a verdict that is never charged.
#include <kernelpro/candidate.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

#include "patched_calls.hpp"

namespace {

bool patched = false;

// The head of the runner's reply, up to the claim.
struct ReplyHead {
  uint32_t kind;
  uint32_t sequence;
  uint32_t status;
  int32_t code;
  int64_t claim_ns;
};

ssize_t send_edited(int fd, const msghdr* message, int flags) {
  if (message->msg_iov->iov_len >= sizeof(ReplyHead)) {
    static_cast<ReplyHead*>(message->msg_iov->iov_base)->status = 77;
  }
  return syscall(SYS_sendmsg, fd, message, flags);
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
    Patch patch{"sendmsg", reinterpret_cast<void*>(&send_edited)};
    dl_iterate_phdr(patch_object, &patch);
  }
  axpy(context, tensors);
  return 0;
}
