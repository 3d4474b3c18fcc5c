// kp:hack 27  seals and leases on inherited descriptors
// kp:task axpy
// kp:expect cheated sandbox
//
// Memory that is sealed against writing could not be mapped by the other arm.
#include <fcntl.h>
#include <kernelpro/candidate.h>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  for (int fd = 3; fd < 64; ++fd) {
    fcntl(fd, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_FUTURE_WRITE);
    fcntl(fd, F_SETLEASE, F_RDLCK);
  }
  axpy(context, tensors);
  return 0;
}
