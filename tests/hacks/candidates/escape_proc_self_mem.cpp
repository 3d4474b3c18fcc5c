// kp:hack 27  writes its memory through /proc
// kp:task axpy
// kp:expect cheated sandbox
//
// Writes to a read-only input through /proc/self/mem, which ignores page protection.
#include <fcntl.h>
#include <kernelpro/candidate.h>
#include <unistd.h>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const int fd = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
  if (fd >= 0) {
    const float zero = 0;
    [[maybe_unused]] const ssize_t written =
        pwrite(fd, &zero, sizeof zero, reinterpret_cast<off_t>(tensors[0].data));
    close(fd);
  }
  axpy(context, tensors);
  return 0;
}
