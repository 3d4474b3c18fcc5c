// kp:hack 31  wrapper around the compiler
// kp:task axpy
// kp:expect cheated build_option
// kp:options -wrapper /bin/sh,-c
//
// Runs a program of its choice in place of the compiler.
#include <kernelpro/candidate.h>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  axpy(context, tensors);
  return 0;
}
