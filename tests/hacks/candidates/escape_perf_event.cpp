// kp:hack 27  opens performance counters
// kp:task axpy
// kp:expect cheated sandbox
//
// Could watch other processes.
#include <kernelpro/candidate.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

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
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.config = PERF_COUNT_SW_TASK_CLOCK;
  syscall(SYS_perf_event_open, &attributes, getppid(), -1, -1, 0);
  axpy(context, tensors);
  return 0;
}
