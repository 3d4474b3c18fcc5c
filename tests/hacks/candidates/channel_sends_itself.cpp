// kp:hack 4  its end of the control socket sent through itself, again and again
// kp:task axpy
// kp:expect cheated channel
//
// A socket that is on its way through itself is freed by nobody but the kernel's collector.
#include <kernelpro/candidate.h>
#include <sys/socket.h>

#include <cstring>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  axpy(context, tensors);
  constexpr int copies = 200;
  constexpr int messages = 100;
  const int own = 3;
  char byte = 0;
  iovec part{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(copies * sizeof own)] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(copies * sizeof own);
  for (int i = 0; i < copies; ++i) {
    std::memcpy(CMSG_DATA(header) + i * sizeof own, &own, sizeof own);
  }
  for (int i = 0; i < messages; ++i) {
    sendmsg(3, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  }
  return 0;
}
