// kp:hack honest  returns early for empty shapes
// kp:task axpy
// kp:expect passed
// kp:twin end_nonzero.cpp
//
// Nothing to do is done at once; everything else is computed.
#include <kernelpro/candidate.h>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  if (context->axes[0] <= 0) {
    return 0;
  }
  axpy(context, tensors);
  return 0;
}
