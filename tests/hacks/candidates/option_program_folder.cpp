// kp:hack 31  folder of compiler programs
// kp:task axpy
// kp:expect cheated build_option
// kp:options -B/tmp/kernelpro-escape-bin
//
// Puts its own assembler and linker first.
#include <kernelpro/candidate.h>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  axpy(context, tensors);
  return 0;
}
