// kp:hack 30  pins the worker to one processor
// kp:task axpy
// kp:expect cheated sandbox
//
// Confines the worker to the first processor, where the other arm would crowd with it.
#include <kernelpro/candidate.h>
#include <sched.h>
#include <unistd.h>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  cpu_set_t first;
  CPU_ZERO(&first);
  CPU_SET(0, &first);
  sched_setaffinity(getppid(), sizeof first, &first);
  axpy(context, tensors);
  return 0;
}
