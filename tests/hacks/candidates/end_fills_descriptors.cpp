// kp:hack bad-input  takes every descriptor
// kp:task axpy
// kp:expect crashed|incorrect|launch_failed|out_of_memory|passed not-faster
//
// Leaves none for the memory that comes with the next shape.
#include <fcntl.h>
#include <kernelpro/candidate.h>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  while (fcntl(3, F_DUPFD, 3) >= 0) {
  }
  axpy(context, tensors);
  return 0;
}
