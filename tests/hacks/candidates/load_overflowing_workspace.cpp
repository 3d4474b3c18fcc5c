// kp:hack bad-input  workspace that overflows when rounded up
// kp:task axpy
// kp:expect out_of_memory|launch_failed
//
// Wants SIZE_MAX bytes, which becomes zero when rounded up to a page.
#include <kernelpro/candidate.h>

#include "plain_axpy.hpp"

extern "C" size_t kp_workspace(const kp_context*, const kp_tensor*, int32_t) {
  return SIZE_MAX;
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  axpy(context, tensors);
  return 0;
}
