// kp:hack 9  locks all memory
// kp:task axpy
// kp:expect cheated sandbox
//
// Pins all present and future pages, to starve the other arm of memory.
#include <kernelpro/candidate.h>
#include <sys/mman.h>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  mlockall(MCL_CURRENT | MCL_FUTURE);
  axpy(context, tensors);
  return 0;
}
