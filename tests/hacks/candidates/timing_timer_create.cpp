// kp:hack 2  works in a POSIX timer
// kp:task axpy
// kp:expect cheated sandbox|late_work
//
// A timer made by timer_create sends a signal whose handler keeps writing after the return.
#include <kernelpro/candidate.h>
#include <signal.h>
#include <time.h>

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
  std::signal(SIGUSR1, compute_pending);
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGUSR1;
  timer_t timer{};
  timer_create(CLOCK_MONOTONIC, &event, &timer);
  const itimerspec soon{{0, 2'000'000}, {0, 2'000'000}};
  timer_settime(timer, 0, &soon, nullptr);
  return 0;
}
