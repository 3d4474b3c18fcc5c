// kp:hack 3  half of the time claimed in two rounds of three
// kp:task axpy
// kp:expect passed|cheated not-faster|clock
//
// An accusation needs a gap in three quarters of all rounds. So one round of three is claimed as it
// was, and half of the time in the others.
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

int replies = 0;

ssize_t send_edited(int fd, const msghdr* message, int flags) {
  if (message->msg_iov->iov_len >= sizeof(ReplyHead)) {
    auto* reply = static_cast<ReplyHead*>(message->msg_iov->iov_base);
    reply->claim_ns = ++replies % 3 == 0 ? reply->claim_ns : reply->claim_ns / 2;
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
