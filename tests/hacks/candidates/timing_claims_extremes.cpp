// kp:hack 3  negative and infinite times claimed in turn
// kp:task axpy
// kp:expect passed|cheated not-faster|clock
//
// The least and the largest number that the field of the claim can hold, for whoever adds them up.
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
    constexpr int64_t extremes[] = {INT64_MIN, INT64_MAX, -1, 0};
    reply->claim_ns = extremes[++replies % 4];
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
