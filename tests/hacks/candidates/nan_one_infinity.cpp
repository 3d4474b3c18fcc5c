// kp:hack 21  one infinite output
// kp:task axpy
// kp:expect incorrect
//
// Right but for one element, which is infinite, so that a maximum of errors is NaN or infinite.
#include <kernelpro/candidate.h>

#include <limits>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  axpy(context, tensors);
  static_cast<float*>(tensors[2].data)[context->axes[0] / 2] =
      std::numeric_limits<float>::infinity();
  return 0;
}
