// kp:hack 30  lowers the worker's priority
// kp:task axpy
// kp:expect cheated sandbox
//
// Makes the worker, which drives the other arm, the least important process of the machine.
#include <kernelpro/candidate.h>
#include <sys/resource.h>
#include <unistd.h>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  setpriority(PRIO_PROCESS, static_cast<id_t>(getppid()), 19);
  axpy(context, tensors);
  return 0;
}
