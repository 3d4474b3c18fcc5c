// kp:hack bad-input  nearly misses the deadline of every check
// kp:task rows
// kp:expect timed_out
//
// A call may take two seconds, and so may asking for the workspace; there are some
// twenty checks. On processors all waits together have a deadline, on a GPU only the timing has
// one. It stops sleeping after forty seconds. Its twin is honest_slow_set_up.cu.
#include <unistd.h>

#include "rows.cuh"

namespace {

void nearly_miss() {
  constexpr int most = 22;
  static int naps = 0;
  if (naps++ < most) {
    usleep(1'850'000);
  }
}

}  // namespace

extern "C" size_t kp_workspace(const kp_context*, const kp_tensor*, int32_t) {
  nearly_miss();
  return 0;
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  nearly_miss();
  const Call call = call_of(context, tensors);
  return launch(call, call.stream);
}
