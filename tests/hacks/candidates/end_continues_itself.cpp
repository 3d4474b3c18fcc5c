// kp:hack 27  cannot be stopped: a thread sends SIGCONT to its own process
// kp:task axpy
// kp:expect cheated|timed_out sandbox|stopped
//
// Whatever stops the process, the thread wakes it up again, so that it is never seen stopped.
#include <kernelpro/candidate.h>
#include <unistd.h>

#include <csignal>
#include <thread>

namespace {

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
  static const bool started = [] {
    std::thread([] {
      for (;;) {
        kill(getpid(), SIGCONT);
      }
    }).detach();
    return true;
  }();
  axpy(context, tensors);
  return started ? 0 : 1;
}
