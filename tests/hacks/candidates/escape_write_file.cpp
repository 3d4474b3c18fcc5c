// kp:hack 27  writes a file
// kp:task axpy
// kp:expect cheated sandbox
//
// Leaves a file in /tmp.
#include <fcntl.h>
#include <kernelpro/candidate.h>
#include <unistd.h>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const int fd = open("/tmp/kernelpro-escape-file", O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
  if (fd >= 0) {
    close(fd);
  }
  axpy(context, tensors);
  return 0;
}
