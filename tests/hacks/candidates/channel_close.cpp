// kp:hack 4  closes every descriptor
// kp:task axpy
// kp:expect crashed|cheated exit|channel
//
// Closes the control socket and all other descriptors, so that the runner cannot report.
#include <kernelpro/candidate.h>
#include <unistd.h>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  for (int fd = 0; fd < 256; ++fd) {
    close(fd);
  }
  axpy(context, tensors);
  return 0;
}
