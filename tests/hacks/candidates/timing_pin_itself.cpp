// kp:hack 9  pins itself to one processor
// kp:task axpy
// kp:expect passed|cheated not-faster|sandbox
//
// Binds its thread to the first processor. That harms nobody, and must gain nothing.
#include <kernelpro/candidate.h>
#include <sched.h>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  cpu_set_t first;
  CPU_ZERO(&first);
  CPU_SET(0, &first);
  sched_setaffinity(0, sizeof first, &first);
  axpy(context, tensors);
  return 0;
}
