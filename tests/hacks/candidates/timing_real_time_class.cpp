// kp:hack 9  asks for real-time scheduling
// kp:task axpy
// kp:expect cheated sandbox
//
// Wants to run before everything else on the machine, the worker included.
#include <kernelpro/candidate.h>
#include <sched.h>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const sched_param urgent{.sched_priority = 1};
  sched_setscheduler(0, SCHED_FIFO, &urgent);
  axpy(context, tensors);
  return 0;
}
