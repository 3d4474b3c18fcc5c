// kp:hack 27  a thread that the kernel cannot stop for a while
// kp:task axpy
// kp:expect passed|timed_out|cheated not-faster|stopped|clock
//
// membarrier waits for all processors without being interruptible, tens of milliseconds at a time:
// the process is not stopped before it returns.
#include <kernelpro/candidate.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <thread>

namespace {

bool started = false;

void wait_for_ever() {
  constexpr int global = 1;  // MEMBARRIER_CMD_GLOBAL
  for (;;) {
    syscall(SYS_membarrier, global, 0, 0);
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  if (!started) {
    started = true;
    std::thread(wait_for_ever).detach();
  }
  const auto alpha = static_cast<float>(context->scalars[0]);
  const auto* x = static_cast<const float*>(tensors[0].data);
  const auto* y = static_cast<const float*>(tensors[1].data);
  auto* out = static_cast<float*>(tensors[2].data);
  for (int64_t i = 0; i < context->axes[0]; ++i) {
    out[i] = alpha * x[i] + y[i];
  }
  return 0;
}
