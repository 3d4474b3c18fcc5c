// kp:hack 10  answers kept in the workspace
// kp:task stream
// kp:expect incorrect
//
// A mark there says that the answer behind it is ready; the workspace is poisoned before each call.
#include "stream.cuh"

namespace {

// Poison is no mark, so the answer has to be computed, which this one never does again.
__global__ void copy_if_marked(Call call, const float* kept) {
  const int64_t i = blockIdx.x * int64_t{256} + threadIdx.x;
  if (i < call.n) {
    call.y[i] = kept[i];
  }
}

}  // namespace

extern "C" size_t kp_workspace(const kp_context* context, const kp_tensor*, int32_t) {
  return static_cast<size_t>(context->axes[0]) * sizeof(float);
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static int64_t ready = -1;
  const Call call = call_of(context, tensors);
  auto* kept = static_cast<float*>(context->workspace);
  if (ready == call.n) {
    copy_if_marked<<<blocks_for(call.n), 256, 0, call.stream>>>(call, kept);
    return cudaGetLastError() != cudaSuccess;
  }
  ready = call.n;
  const size_t bytes = static_cast<size_t>(call.n) * sizeof(float);
  const int failed = launch(call, call.stream);
  return failed | cudaMemcpyAsync(kept, call.y, bytes, cudaMemcpyDeviceToDevice, call.stream);
}
