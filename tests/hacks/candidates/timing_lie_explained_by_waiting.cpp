// kp:hack 3  a lie that waiting for a processor explains
// kp:task axpy
// kp:expect passed|cheated not-faster|clock
//
// A thread of its own spins on the same processor, so that the kernel counts waiting for it. That
// explains a gap between the clocks; the claim is then halved.
#include <kernelpro/candidate.h>
#include <sched.h>
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
    static_cast<ReplyHead*>(message->msg_iov->iov_base)->claim_ns /= 2;
  }
  return syscall(SYS_sendmsg, fd, message, flags);
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  if (!patched) {
    patched = true;
    Patch patch{"sendmsg", reinterpret_cast<void*>(&send_edited)};
    dl_iterate_phdr(patch_object, &patch);
    cpu_set_t first;
    CPU_ZERO(&first);
    CPU_SET(0, &first);
    sched_setaffinity(0, sizeof first, &first);
    std::thread([] {
      for (volatile int i = 0;; i = i + 1) {
      }
    }).detach();
  }
  axpy(context, tensors);
  return 0;
}
