// kp:hack 27  opens a network socket
// kp:task axpy
// kp:expect cheated sandbox
//
// Connects to a port of the loopback interface.
#include <arpa/inet.h>
#include <kernelpro/candidate.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd >= 0) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(9);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address);
    close(fd);
  }
  axpy(context, tensors);
  return 0;
}
