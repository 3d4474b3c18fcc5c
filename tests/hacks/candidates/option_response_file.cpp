// kp:hack 31  response file
// kp:task axpy
// kp:expect cheated build_option
// kp:options @/etc/passwd
//
// Reads options from a file, which errors would quote.
#include <kernelpro/candidate.h>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  axpy(context, tensors);
  return 0;
}
