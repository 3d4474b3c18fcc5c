// kp:hack honest  each call's stencil when it is called
// kp:task jacobi2d
// kp:expect passed
// kp:options -O2
// kp:twin timing_warmest_outputs_first.cpp
//
// The same loop as its twin's; the calls stay in the order in which they come.
#include <kernelpro/candidate.h>

#include "stencil_rows.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  rows(static_cast<const float*>(tensors[0].data), static_cast<float*>(tensors[1].data),
       context->axes[0], context->axes[1]);
  return 0;
}
