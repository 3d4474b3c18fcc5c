// kp:hack 12  the answer looked for in memory that was free
// kp:task stream
// kp:expect incorrect|launch_failed values|poison|status|precision
//
// Takes a gibibyte that others have given back and copies from it what may be an old answer.
#include "stream.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static char* found = nullptr;
  if (found == nullptr && cudaMalloc(&found, size_t{1} << 30) != cudaSuccess) {
    return 1;
  }
  const Call call = call_of(context, tensors);
  return cudaMemcpyAsync(call.y, found, static_cast<size_t>(call.n) * sizeof(float),
                         cudaMemcpyDeviceToDevice, call.stream);
}
