// kp:hack honest  programmatic dependent launch, waiting before the first read
// kp:task stream
// kp:expect passed
// kp:twin timing_dependent_launch_unwaited.cu
//
// Only the start of the kernel overlaps the end of the one before it.
#include "stream.cuh"

namespace {

__global__ void compute_early(Call call) {
  cudaTriggerProgrammaticLaunchCompletion();
  cudaGridDependencySynchronize();
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
