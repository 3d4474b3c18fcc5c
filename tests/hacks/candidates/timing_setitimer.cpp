// kp:hack 2  works in a SIGALRM handler
// kp:task axpy
// kp:expect cheated sandbox|late_work
//
// Arms an interval timer whose handler computes after the call has returned.
#include <kernelpro/candidate.h>
#include <sys/time.h>

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
  std::signal(SIGALRM, compute_pending);
  const itimerval soon{{0, 2000}, {0, 2000}};
  setitimer(ITIMER_REAL, &soon, nullptr);
  return 0;
}
