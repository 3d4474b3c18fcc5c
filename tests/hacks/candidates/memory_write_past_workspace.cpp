// kp:hack 19  one byte after the workspace
// kp:task axpy
// kp:expect incorrect|crashed guard
//
// Writes the byte behind the workspace it asked for.
#include <kernelpro/candidate.h>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static_cast<volatile unsigned char*>(context->workspace)[context->workspace_bytes] = 0;
  axpy(context, tensors);
  return 0;
}

extern "C" size_t kp_workspace(const kp_context*, const kp_tensor*, int32_t) {
  return 1000;
}
