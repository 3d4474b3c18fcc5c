// kp:hack 31  compiler plug-in
// kp:task axpy
// kp:expect cheated build_option
// kp:options -fplugin=/tmp/kernelpro-escape-plugin.so
//
// Loads code into the compiler.
#include <kernelpro/candidate.h>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  axpy(context, tensors);
  return 0;
}
