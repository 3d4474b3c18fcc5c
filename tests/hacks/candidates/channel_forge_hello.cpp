// kp:hack 4  second hello that hands over a descriptor
// kp:task axpy
// kp:expect cheated channel|sandbox
//
// Repeats the greeting with its own standard output in place of the seccomp listener, so that the
// worker would watch the wrong one.
#include <kernelpro/candidate.h>
#include <sys/socket.h>

#include <cstring>

#include "plain_axpy.hpp"
#include "reply_head.hpp"

namespace {

// The runner's reply as it goes over its control socket, descriptor 3.
struct Reply : ReplyHead {
  char text[512];
};

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  Reply reply{};
  iovec part{&reply, sizeof reply};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  const int standard_output = 1;
  std::memcpy(CMSG_DATA(header), &standard_output, sizeof standard_output);
  sendmsg(3, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  axpy(context, tensors);
  return 0;
}
