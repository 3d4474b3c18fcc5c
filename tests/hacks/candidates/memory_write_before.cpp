// kp:hack 19  one byte before the output
// kp:task axpy
// kp:expect incorrect|crashed guard
//
// Writes the byte in front of the output.
#include <kernelpro/candidate.h>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static_cast<volatile unsigned char*>(tensors[2].data)[-1] = 0;
  axpy(context, tensors);
  return 0;
}
