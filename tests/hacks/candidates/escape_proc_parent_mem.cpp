// kp:hack 27  opens the worker's memory
// kp:task axpy
// kp:expect cheated sandbox
//
// Looks for expected values in the memory of the worker.
#include <fcntl.h>
#include <kernelpro/candidate.h>
#include <unistd.h>

#include <string>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const std::string path = "/proc/" + std::to_string(getppid()) + "/mem";
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd >= 0) {
    close(fd);
  }
  axpy(context, tensors);
  return 0;
}
