// kp:hack 27  a storm of signals while it should stop
// kp:task axpy
// kp:expect passed|timed_out|cheated not-faster|stopped|threads
// kp:options -O2 -pthread
//
// Two threads send each other a signal with a lower number than SIGSTOP's as fast as they can, with
// every other signal blocked while they handle it.
#include <kernelpro/candidate.h>
#include <signal.h>

#include <thread>

#include "plain_axpy.hpp"

namespace {

bool started = false;

void nothing(int) {}

void storm() {
  for (;;) {
    raise(SIGUSR1);
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  if (!started) {
    started = true;
    struct sigaction action{};
    action.sa_handler = nothing;
    sigfillset(&action.sa_mask);
    sigaction(SIGUSR1, &action, nullptr);
    std::thread(storm).detach();
  }
  axpy(context, tensors);
  return 0;
}
