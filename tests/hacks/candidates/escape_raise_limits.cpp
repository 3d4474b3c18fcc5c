// kp:hack 27  raises its limits
// kp:task axpy
// kp:expect cheated sandbox
//
// Asks for more memory than the jail grants.
#include <kernelpro/candidate.h>
#include <sys/resource.h>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const rlimit unlimited{RLIM_INFINITY, RLIM_INFINITY};
  setrlimit(RLIMIT_AS, &unlimited);
  axpy(context, tensors);
  return 0;
}
