// kp:hack 2  works in a SIGCONT handler
// kp:task axpy
// kp:expect cheated|incorrect late_work|poison
//
// Remembers the call and computes it when the judge wakes the process up again.
#include <kernelpro/candidate.h>

#include <csignal>

#include "plain_axpy.hpp"

namespace {

const kp_context* pending_context = nullptr;
const kp_tensor* pending_tensors = nullptr;

void compute_pending(int) {
  axpy(pending_context, pending_tensors);
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  pending_context = context;
  pending_tensors = tensors;
  std::signal(SIGCONT, compute_pending);
  return 0;
}
