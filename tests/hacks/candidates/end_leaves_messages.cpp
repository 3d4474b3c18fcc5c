// kp:hack 4  dies behind a queue of messages with descriptors
// kp:task axpy
// kp:expect crashed|cheated exit|channel
//
// What lies unread when a process dies is read then, and its descriptors are taken with it.
#include <kernelpro/candidate.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>

extern "C" int kp_launch(const kp_context*, const kp_tensor*, int32_t) {
  constexpr int control = 3;
  char text[16] = {};
  iovec part{text, sizeof text};
  const int own[2] = {1, 1};
  alignas(cmsghdr) char descriptors[CMSG_SPACE(sizeof own)] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = descriptors;
  message.msg_controllen = sizeof descriptors;
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof own);
  std::memcpy(CMSG_DATA(header), own, sizeof own);
  for (int i = 0; i < 1000; ++i) {
    sendmsg(control, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  }
  _exit(0);
}
