// kp:hack 17  writes to an input
// kp:task axpy
// kp:expect crashed input_write
//
// Uses x as scratch space.
#include <kernelpro/candidate.h>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static_cast<float*>(tensors[0].data)[0] = 0;
  axpy(context, tensors);
  return 0;
}
