// kp:hack 27  signals the worker by descriptor
// kp:task axpy
// kp:expect cheated sandbox
//
// Stops the worker through a pidfd, past a filter that only looks at kill.
#include <kernelpro/candidate.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  if (getppid() > 1) {
    const auto fd = static_cast<int>(syscall(SYS_pidfd_open, getppid(), 0));
    if (fd >= 0) {
      syscall(SYS_pidfd_send_signal, fd, SIGTERM, nullptr, 0);
    }
  }
  axpy(context, tensors);
  return 0;
}
