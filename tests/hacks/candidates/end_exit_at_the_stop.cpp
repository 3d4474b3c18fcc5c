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
#include "plain_axpy.hpp"

namespace {

bool patched = false;

ssize_t send_and_leave(int fd, const msghdr* message, int flags) {
  const ssize_t sent = syscall(SYS_sendmsg, fd, message, flags);
  syscall(SYS_exit_group, 0);
  return sent;
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
