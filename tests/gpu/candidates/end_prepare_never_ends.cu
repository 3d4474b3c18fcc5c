// kp:hack bad-input  kp_prepare leaves a kernel that never ends, once rounds are timed
// kp:task rows
// kp:expect timed_out|cheated clock
//
// On a stream of its own, for which nothing of the given one waits; constants are prepared off the
// clock. The process is killed and the next candidate judged.
#include "rows.cuh"

namespace {

__global__ void never_end(volatile unsigned* word) {
  while (*word != 1) {
  }
}

}  // namespace

extern "C" size_t kp_state(const kp_context*, const kp_tensor*, int32_t) {
  return 256;
}

extern "C" int kp_prepare(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static int timed = 0;
  static cudaStream_t own = nullptr;
  const Call call = call_of(context, tensors);
  timed += call.m > 300 ? 1 : 0;
  if (timed == 100) {
    cudaMemset(context->state, 0, 4);
    cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
    never_end<<<1, 1, 0, own>>>(static_cast<unsigned*>(context->state));
  }
  return cudaGetLastError() != cudaSuccess;
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  return launch(call, call.stream);
}
