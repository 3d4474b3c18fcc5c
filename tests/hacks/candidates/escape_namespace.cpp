// kp:hack 27  makes a user namespace
// kp:task axpy
// kp:expect cheated sandbox
//
// Would be root in a world of its own.
#include <kernelpro/candidate.h>
#include <sched.h>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  unshare(CLONE_NEWUSER);
  axpy(context, tensors);
  return 0;
}
