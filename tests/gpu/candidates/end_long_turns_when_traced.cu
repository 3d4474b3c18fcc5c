// kp:hack bad-input  the GPU held where calls are traced, when the candidate has replied
// kp:task rows
// kp:expect passed no-gain
//
// The verdict is known, and only launches are to be counted: in that process nobody looks at the
// time that the worker's own kernels take. Elsewhere it is honest. A verdict must come all the
// same, and soon: the kernel ends by itself after forty-five seconds. Its twin is honest_rows.cu.
#include "driver.cuh"
#include "rows.cuh"
#include "second_context.cuh"
#include "second_context_later.cuh"
#include "spin.cuh"
#include "timeslice.cuh"
#include "tracer.cuh"

namespace {

void hold() {
  static const bool watched = watch_groups();
  static LeftBehind later(4);
  if (watched && later.good && (set_turns(60'000'000) || set_turns(3'000'000))) {
    later.leave([](cudaStream_t stream) { spin<<<132, 1024, 0, stream>>>(45'000'000'000); });
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static int traced = 0;
  const Call call = call_of(context, tensors);
  const int failed = launch(call, call.stream);
  if (is_traced() && ++traced == 2) {
    cudaFree(nullptr);
    hold();
  }
  return failed;
}
