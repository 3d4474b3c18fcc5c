// kp:hack 27  kills the worker
// kp:task axpy
// kp:expect cheated sandbox
//
// Sends SIGKILL to the worker.
#include <kernelpro/candidate.h>
#include <signal.h>
#include <unistd.h>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  if (getppid() > 1) {
    kill(getppid(), SIGKILL);
  }
  axpy(context, tensors);
  return 0;
}
