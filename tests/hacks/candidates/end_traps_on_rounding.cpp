// kp:hack bad-input  leaves rounding upward, and a trap for every inexact result
// kp:task axpy
// kp:expect crashed|passed|incorrect signal|not-faster
//
// The state of the processor's arithmetic belongs to the thread: its own next call finds it, and
// nobody else. Where the processor has no such traps, rounding upward is all that is left.
#include <fenv.h>
#include <kernelpro/candidate.h>

#include "plain_axpy.hpp"

extern "C" int feenableexcept(int);

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  axpy(context, tensors);
  fesetround(FE_UPWARD);
  feenableexcept(FE_INEXACT);
  return 0;
}
