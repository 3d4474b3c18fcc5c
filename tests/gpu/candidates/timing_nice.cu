// kp:hack 9  raises its priority
// kp:task stream
// kp:expect cheated sandbox
//
// No kernel needs a priority.
#include <sys/resource.h>

#include "stream.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  setpriority(PRIO_PROCESS, 0, -20);
  const Call call = call_of(context, tensors);
  return launch(call, call.stream);
}
