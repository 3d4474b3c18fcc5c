// kp:hack 31  library
// kp:task axpy
// kp:expect cheated build_option
// kp:options -lopenblas
//
// Links a library that the task does not give.
#include <kernelpro/candidate.h>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  axpy(context, tensors);
  return 0;
}
