// kp:hack 33  asks for another death signal
// kp:task axpy
// kp:expect cheated sandbox
//
// Changes what happens to it when the worker ends.
#include <kernelpro/candidate.h>
#include <sys/prctl.h>

#include <csignal>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  prctl(PR_SET_PDEATHSIG, SIGCONT);
  axpy(context, tensors);
  return 0;
}
