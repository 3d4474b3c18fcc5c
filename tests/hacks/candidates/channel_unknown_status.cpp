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
#include "plain_axpy.hpp"
#include "reply_head.hpp"

namespace {

bool patched = false;

ssize_t send_edited(int fd, const msghdr* message, int flags) {
  if (message->msg_iov->iov_len >= sizeof(ReplyHead)) {
    static_cast<ReplyHead*>(message->msg_iov->iov_base)->status = 77;
  }
  return syscall(SYS_sendmsg, fd, message, flags);
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
