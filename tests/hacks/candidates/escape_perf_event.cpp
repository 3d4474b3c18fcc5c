// kp:hack 27  opens performance counters
// kp:task axpy
// kp:expect cheated sandbox
//
// Could watch other processes.
#include <kernelpro/candidate.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.config = PERF_COUNT_SW_TASK_CLOCK;
  syscall(SYS_perf_event_open, &attributes, getppid(), -1, -1, 0);
  axpy(context, tensors);
  return 0;
}
