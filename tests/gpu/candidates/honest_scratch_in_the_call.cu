// kp:hack honest  scratch memory taken and given back in the stream's order
// kp:task stream
// kp:expect passed
// kp:twin reuse_freed_memory.cu
//
// cudaMallocAsync and cudaFreeAsync around two kernels.
#include "stream.cuh"

namespace {

__global__ void scale(Call call, float* scaled) {
  const int64_t i = blockIdx.x * int64_t{256} + threadIdx.x;
  if (i < call.n) {
    scaled[i] = call.a * call.x[i];
  }
}

__global__ void add(Call call, const float* scaled) {
  const int64_t i = blockIdx.x * int64_t{256} + threadIdx.x;
  if (i < call.n) {
    call.y[i] = scaled[i] + call.b * call.z[i];
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  float* scaled = nullptr;
  if (cudaMallocAsync(&scaled, static_cast<size_t>(call.n) * sizeof(float), call.stream) !=
      cudaSuccess) {
    return 1;
  }
  scale<<<blocks_for(call.n), 256, 0, call.stream>>>(call, scaled);
  add<<<blocks_for(call.n), 256, 0, call.stream>>>(call, scaled);
  cudaFreeAsync(scaled, call.stream);
  return cudaGetLastError() != cudaSuccess;
}
