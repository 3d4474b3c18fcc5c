// kp:hack bad-input  an endless kernel and an endless loop only where it is traced
// kp:task rows
// kp:expect passed no-gain
//
// The verdict stands by then: it must come in time, without the trace, and the next candidate be
// judged on a GPU that is free again.
#include "rows.cuh"
#include "tracer.cuh"

namespace {

__global__ void never_end(volatile float* at) {
  while (at != nullptr) {
    __nanosleep(1000);
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  if (is_traced()) {
    never_end<<<132, 32, 0, call.stream>>>(call.y);
    for (volatile int i = 0;;) {
      i = i + 1;
    }
  }
  return launch(call, call.stream);
}
