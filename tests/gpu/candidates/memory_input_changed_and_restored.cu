// kp:hack 17  an input made writable, used as scratch memory, and put back as it was
// kp:task stream
// kp:expect cheated|crashed|launch_failed|passed input_write|guard|device|status|no-gain
//
// The worker compares inputs after each round and finds them as they were. Nothing is gained by it,
// and a caller who reads them meanwhile would see something else. Its twin is honest_workspace.cu.
#include "driver.cuh"
#include "stream.cuh"

#include "make_writable.cuh"

namespace {

__global__ void flip(Call call) {
  const int64_t i = blockIdx.x * int64_t{256} + threadIdx.x;
  if (i < call.n) {
    auto* x = reinterpret_cast<unsigned*>(const_cast<float*>(call.x));
    x[i] = ~x[i];
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  if (!make_writable(call)) {
    return 1;
  }
  flip<<<blocks_for(call.n), 256, 0, call.stream>>>(call);
  flip<<<blocks_for(call.n), 256, 0, call.stream>>>(call);
  return launch(call, call.stream);
}
