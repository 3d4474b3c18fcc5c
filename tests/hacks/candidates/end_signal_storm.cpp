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

namespace {

bool started = false;

void nothing(int) {}

void storm() {
  for (;;) {
    raise(SIGUSR1);
  }
}

void axpy(const kp_context* context, const kp_tensor* tensors) {
  const auto alpha = static_cast<float>(context->scalars[0]);
  const auto* x = static_cast<const float*>(tensors[0].data);
  const auto* y = static_cast<const float*>(tensors[1].data);
  auto* out = static_cast<float*>(tensors[2].data);
  for (int64_t i = 0; i < context->axes[0]; ++i) {
    out[i] = alpha * x[i] + y[i];
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
