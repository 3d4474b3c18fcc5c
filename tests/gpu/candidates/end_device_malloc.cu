// kp:hack bad-input  memory taken on the device until there is none
// kp:task stream
// kp:expect crashed|incorrect|timed_out device|guard|values|poison
//
// The first pointer that is null is written through.
#include "stream.cuh"

namespace {

__global__ void break_something(Call call) {
  for (;;) {
    auto* memory = static_cast<volatile char*>(malloc(1 << 16));
    if (memory == nullptr) {
      __trap();
    }
    memory[0] = static_cast<char>(call.n);
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  const int failed = launch(call, call.stream);
  break_something<<<1, 1, 0, call.stream>>>(call);
  return failed | (cudaGetLastError() != cudaSuccess);
}
