// kp:hack 27  punches holes into inherited descriptors
// kp:task axpy
// kp:expect cheated sandbox
//
// Frees the pages behind every descriptor it inherited, which would zero the inputs.
#include <fcntl.h>
#include <kernelpro/candidate.h>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  for (int fd = 3; fd < 64; ++fd) {
    fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 1 << 20);
  }
  axpy(context, tensors);
  return 0;
}
