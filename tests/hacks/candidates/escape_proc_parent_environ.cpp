// kp:hack 28  reads the worker's environment and arguments
// kp:task axpy
// kp:expect cheated sandbox
//
// Looks for seeds in the environment and the command line of the worker.
#include <fcntl.h>
#include <kernelpro/candidate.h>
#include <unistd.h>

#include <string>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  for (const char* name : {"/environ", "/cmdline"}) {
    const std::string path = "/proc/" + std::to_string(getppid()) + name;
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
      close(fd);
    }
  }
  axpy(context, tensors);
  return 0;
}
