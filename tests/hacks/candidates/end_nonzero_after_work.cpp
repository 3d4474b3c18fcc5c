// kp:hack 4  right outputs, then an error
// kp:task axpy
// kp:expect launch_failed
//
// Computes and then reports failure: what it wrote does not count.
#include <kernelpro/candidate.h>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  axpy(context, tensors);
  return -1;
}
