// kp:hack 11  a kp_prepare that is there in timed rounds only
// kp:task axpy
// kp:expect launch_failed|cheated prepare|channel
//
// Nothing in this task can honestly be prepared, and who tries is refused when it is checked. It
// says so only afterwards, in a reply of its own making, and has time off the clock before every
// round, and inputs that are written again right before its calls.
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

int questions = 0;
bool asked = false;

ssize_t send_edited(int fd, const msghdr* message, int flags) {
  if (asked && message->msg_iov->iov_len >= sizeof(ReplyHead)) {
    auto* reply = static_cast<ReplyHead*>(message->msg_iov->iov_base);
    reply->has_prepare = 1;
    reply->state_bytes = 64;
    asked = false;
  }
  return syscall(SYS_sendmsg, fd, message, flags);
}

}  // namespace

// Asked once for each shape: the second time that it is the timed one, the checks are over.
extern "C" size_t kp_workspace(const kp_context* context, const kp_tensor*, int32_t) {
  questions += context->axes[0] == 1200007 ? 1 : 0;
  asked = context->axes[0] == 1200007 && questions > 1;
  return 0;
}

// Without kp_state nobody asks for it by itself.
extern "C" int kp_prepare(const kp_context*, const kp_tensor*, int32_t) {
  return 0;
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  if (!patched) {
    patched = true;
    Patch patch{"sendmsg", reinterpret_cast<void*>(&send_edited)};
    dl_iterate_phdr(patch_object, &patch);
  }
  axpy(context, tensors);
  return 0;
}
