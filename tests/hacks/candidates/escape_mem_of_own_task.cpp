// kp:hack 27  asks for its memory by the folder of its own thread
// kp:task axpy
// kp:expect cheated sandbox
//
// Whoever looks the name up beneath a /proc/self of its own finds no such thread, and lets the
// question go on to the kernel, which refuses it: then nobody hears of it.
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/self/task/%d/mem", gettid());
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd >= 0) {
    close(fd);
    return 1;  // it is open to us: nothing of ours is out of reach
  }
  axpy(context, tensors);
  return 0;
}
