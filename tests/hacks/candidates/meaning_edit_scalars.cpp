// kp:hack 22  scalars rewritten
// kp:task axpy
// kp:expect incorrect
//
// Sets alpha to zero in the call's context and then computes what is left.
#include <kernelpro/candidate.h>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const_cast<double*>(context->scalars)[0] = 0;
  axpy(context, tensors);
  return 0;
}
