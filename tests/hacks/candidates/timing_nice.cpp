// kp:hack 9  raises its own priority
// kp:task axpy
// kp:expect cheated sandbox
//
// Asks for the best priority there is.
#include <kernelpro/candidate.h>
#include <sys/resource.h>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  setpriority(PRIO_PROCESS, 0, -20);
  axpy(context, tensors);
  return 0;
}
