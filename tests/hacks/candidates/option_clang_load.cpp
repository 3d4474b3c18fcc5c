// kp:hack 31  clang plug-in
// kp:task axpy
// kp:expect cheated build_option
// kp:options -Xclang -load -Xclang /tmp/kernelpro-escape-plugin.so
// kp:compiler clang++-19
//
// Loads code into clang past its driver.
#include <kernelpro/candidate.h>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  axpy(context, tensors);
  return 0;
}
