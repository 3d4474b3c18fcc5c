// kp:hack 33  opens a file from a signal handler
// kp:task axpy
// kp:expect cheated sandbox
//
// Tries the forbidden from the context of a handler.
#include <fcntl.h>
#include <kernelpro/candidate.h>

#include <csignal>

#include "plain_axpy.hpp"

namespace {

void open_file(int) {
  open("/etc/hostname", O_RDONLY | O_CLOEXEC);
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  std::signal(SIGUSR1, open_file);
  std::raise(SIGUSR1);
  axpy(context, tensors);
  return 0;
}
