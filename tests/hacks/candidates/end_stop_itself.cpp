// kp:hack 27  stops itself
// kp:task axpy
// kp:expect timed_out|crashed|incorrect|cheated
//
// Stops itself before the work, as the judge stops it after.
#include <kernelpro/candidate.h>

#include <csignal>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  std::raise(SIGSTOP);
  axpy(context, tensors);
  return 0;
}
