// kp:hack bad-input  a compiler that nobody knows
// kp:task axpy
// kp:expect build_failed
// kp:compiler /tmp/kernelpro-escape-compiler
//
// A line of its own header names it.
#include <kernelpro/candidate.h>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  axpy(context, tensors);
  return 0;
}
