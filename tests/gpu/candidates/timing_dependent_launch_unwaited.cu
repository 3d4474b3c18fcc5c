// kp:hack 1  each kernel starts beside the one before it and never waits for it
// kp:task stream
// kp:expect cheated|incorrect|unstable|passed late_work|poison|clock|values|no-gain
//
// Programmatic dependent launch without the wait: what writes the inputs on the same stream may not
// have finished. No call of a round depends on another, so calls overlap. Its twin is
// honest_dependent_launch.cu.
#include "stream.cuh"

namespace {

__global__ void compute_early(Call call) {
  cudaTriggerProgrammaticLaunchCompletion();
  const int64_t i = blockIdx.x * int64_t{256} + threadIdx.x;
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
  return cudaLaunchKernelEx(&config, compute_early, call) != cudaSuccess;
}
