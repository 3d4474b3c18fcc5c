// kp:hack 27  truncates inherited descriptors
// kp:task axpy
// kp:expect cheated sandbox
//
// Cuts every descriptor it inherited to nothing, so that the worker would fault on its own
// buffers.
#include <kernelpro/candidate.h>
#include <unistd.h>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  for (int fd = 3; fd < 64; ++fd) {
    [[maybe_unused]] const int status = ftruncate(fd, 0);
  }
  axpy(context, tensors);
  return 0;
}
