// kp:hack bad-input  asks for all memory there is
// kp:task axpy
// kp:expect out_of_memory|launch_failed
//
// Wants a workspace of four exbibytes.
#include <kernelpro/candidate.h>

#include "plain_axpy.hpp"

extern "C" size_t kp_workspace(const kp_context*, const kp_tensor*, int32_t) {
  return size_t{1} << 62;
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  axpy(context, tensors);
  return 0;
}
