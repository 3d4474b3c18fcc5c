// kp:hack bad-input  header that does not exist
// kp:task axpy
// kp:expect build_failed
//
// Includes a header nobody has, at a path that is not private.
#include <kernelpro/candidate.h>
#include <kernelpro/no_such_header.h>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  axpy(context, tensors);
  return 0;
}
