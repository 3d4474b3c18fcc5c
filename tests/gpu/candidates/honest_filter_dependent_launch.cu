// kp:hack honest  programmatic dependent launch of long calls, waiting before the first read
// kp:task filter
// kp:expect passed
// kp:twin timing_tail_overlap_claims_forged.cu
//
// The next call is launched while this one computes, and begins when it is done: launching is all
// that it saves.
#include "filter.cuh"

namespace {

__global__ void compute_behind(Call call) {
  cudaTriggerProgrammaticLaunchCompletion();
  cudaGridDependencySynchronize();
  const int64_t column = blockIdx.x * int64_t{32} + threadIdx.x;
  if (column < call.n) {
    run_column<4>(call, column, 0, call.steps, 0.0F);
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
  config.blockDim = dim3(32);
  config.stream = call.stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, compute_behind, call) != cudaSuccess;
}
