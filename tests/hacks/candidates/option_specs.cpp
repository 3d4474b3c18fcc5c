// kp:hack 31  specs file
// kp:task axpy
// kp:expect cheated build_option
// kp:options -specs=/tmp/kernelpro-escape-specs
//
// Replaces the commands that the compiler runs.
#include <kernelpro/candidate.h>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  axpy(context, tensors);
  return 0;
}
