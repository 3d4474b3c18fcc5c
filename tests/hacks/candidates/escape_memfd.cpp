// kp:hack 27  makes a memory file
// kp:task axpy
// kp:expect cheated sandbox
//
// A memory file can hold a program or grow without limit.
#include <kernelpro/candidate.h>
#include <sys/mman.h>
#include <unistd.h>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const int fd = memfd_create("kernelpro-escape", MFD_CLOEXEC);
  if (fd >= 0) {
    close(fd);
  }
  axpy(context, tensors);
  return 0;
}
