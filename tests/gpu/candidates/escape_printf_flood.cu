// kp:hack 27  prints without end from the device
// kp:task stream
// kp:expect passed|timed_out|cheated not-faster|clock
//
// The text is lost when nobody reads it. It is fetched after the events of a round: time that the
// candidate does not count, and the worker does.
#include <cstdio>

#include "stream.cuh"

namespace {

__global__ void print_lines() {
  printf("block %u thread %u says what nobody needs to know\n", blockIdx.x, threadIdx.x);
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  print_lines<<<64, 64, 0, call.stream>>>();
  return launch(call, call.stream);
}
