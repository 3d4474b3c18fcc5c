// kp:hack 31  includes a file by a macro
// kp:task axpy
// kp:expect cheated private_file
//
// No text rule finds the path in the include line.
#include <kernelpro/candidate.h>

#include "plain_axpy.hpp"

#define KP_ROOT(path) </etc/path>
#include KP_ROOT(passwd)

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  axpy(context, tensors);
  return 0;
}
