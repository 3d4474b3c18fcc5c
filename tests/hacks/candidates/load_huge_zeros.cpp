// kp:hack bad-input  wants a terabyte of zeros when it is loaded
// kp:task axpy
// kp:expect launch_failed load
#include "plain_axpy.hpp"

char zeros[1ULL << 40];

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  zeros[context->axes[0]] = 1;
  axpy(context, tensors);
  return 0;
}
