// kp:hack 3  a lie as long as a busy neighbor shortens the hand-over
// kp:task axpy
// kp:expect passed|cheated not-faster|clock|threads
// kp:options -O2 -pthread
//
// What handing over costs is measured while the other processor sleeps. A thread that never lets it
// sleep makes the worker wake sooner; what that saves is taken off the claim.
#include <kernelpro/candidate.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <thread>

#include "patched_calls.hpp"
#include "plain_axpy.hpp"
#include "reply_head.hpp"

namespace {

bool patched = false;

ssize_t send_edited(int fd, const msghdr* message, int flags) {
  if (message->msg_iov->iov_len >= sizeof(ReplyHead)) {
    auto* reply = static_cast<ReplyHead*>(message->msg_iov->iov_base);
    constexpr int64_t saved_ns = 40'000;
    reply->claim_ns -= reply->claim_ns > 10 * saved_ns ? saved_ns : 0;
  }
  return syscall(SYS_sendmsg, fd, message, flags);
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  if (!patched) {
    patched = true;
    Patch patch{"sendmsg", reinterpret_cast<void*>(&send_edited)};
    dl_iterate_phdr(patch_object, &patch);
    std::thread([] {
      for (volatile int i = 0;; i = i + 1) {
      }
    }).detach();
  }
  axpy(context, tensors);
  return 0;
}
