// kp:hack 4  descriptors attached to every reply
// kp:task axpy
// kp:expect cheated channel
//
// Whoever takes a message takes the descriptors that come with it. The worker lives on when the
// candidate is gone: each one that it does not close stays, until it can open nothing more.
#include <kernelpro/candidate.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

#include "patched_calls.hpp"
#include "plain_axpy.hpp"

namespace {

bool patched = false;

ssize_t send_with_descriptors(int fd, const msghdr* message, int flags) {
  const int own[2] = {1, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof own)] = {};
  msghdr more = *message;
  more.msg_control = control;
  more.msg_controllen = sizeof control;
  cmsghdr* header = CMSG_FIRSTHDR(&more);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof own);
  std::memcpy(CMSG_DATA(header), own, sizeof own);
  return syscall(SYS_sendmsg, fd, &more, flags);
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  if (!patched) {
    patched = true;
    Patch patch{"sendmsg", reinterpret_cast<void*>(&send_with_descriptors)};
    dl_iterate_phdr(patch_object, &patch);
  }
  axpy(context, tensors);
  return 0;
}
