// kp:hack 27  reads a file
// kp:task axpy
// kp:expect cheated sandbox
//
// Opens a file of the system for reading.
#include <fcntl.h>
#include <kernelpro/candidate.h>
#include <unistd.h>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const int fd = open("/etc/hostname", O_RDONLY | O_CLOEXEC);
  if (fd >= 0) {
    close(fd);
  }
  axpy(context, tensors);
  return 0;
}
