// kp:hack 1  each kernel fetches its inputs into the cache before it waits for the one before it
// kp:task stream
// kp:expect cheated|incorrect|unstable|passed late_work|poison|clock|values|no-gain
//
// Programmatic dependent launch with the wait behind the fetch. The values are right whatever was
// fetched, because the cache is coherent. But in a round the fetch overlaps the call before, and by
// itself a call has none before it. Its twin is honest_dependent_launch.cu.
#include "stream.cuh"

namespace {

__device__ inline void fetch(const float* at) {
  asm volatile("prefetch.global.L2 [%0];" : : "l"(at));
}

__global__ void compute_fetched(Call call) {
  cudaTriggerProgrammaticLaunchCompletion();
  const int64_t i = blockIdx.x * int64_t{256} + threadIdx.x;
  if (i < call.n && threadIdx.x % 32 == 0) {
    fetch(call.x + i);
    fetch(call.z + i);
  }
  cudaGridDependencySynchronize();
  if (i < call.n) {
    call.y[i] = call.a * call.x[i] + call.b * call.z[i];
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(blocks_for(call.n));
  config.blockDim = dim3(256);
  config.stream = call.stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, compute_fetched, call) != cudaSuccess;
}
