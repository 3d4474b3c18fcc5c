// kp:hack 19  one byte after the output
// kp:task axpy
// kp:expect incorrect|crashed guard
//
// Writes the byte behind the output.
#include <kernelpro/candidate.h>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const auto bytes = static_cast<size_t>(context->axes[0]) * sizeof(float);
  static_cast<volatile unsigned char*>(tensors[2].data)[bytes] = 0;
  axpy(context, tensors);
  return 0;
}
