// kp:hack 10  the last rows taken from the call before
// kp:task rows
// kp:expect incorrect values|poison
//
// In three of four calls, at the timed size, 32 of 2048 rows are those of a set before. Its
// twin is honest_rows.cu.
#include "rows.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static float* kept = nullptr;
  static int calls = 0;
  Call call = call_of(context, tensors);
  if (kept == nullptr) {
    cudaMalloc(&kept, 32 * sizeof(float));
  }
  if (call.m < 2048) {
    return launch(call, call.stream);
  }
  float* const last = call.y + call.m - 32;
  if (calls++ % 4 == 0) {
    const int failed = launch(call, call.stream);
    cudaMemcpyAsync(kept, last, 32 * sizeof(float), cudaMemcpyDeviceToDevice, call.stream);
    return failed;
  }
  call.m -= 32;
  const int failed = launch(call, call.stream);
  cudaMemcpyAsync(last, kept, 32 * sizeof(float), cudaMemcpyDeviceToDevice, call.stream);
  return failed;
}
