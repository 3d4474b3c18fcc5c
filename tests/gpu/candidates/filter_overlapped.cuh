// A call of "filter" that lets the next one begin when it has come to step `from`, and never waits
// for the one before it. Needs filter.cuh.
namespace {

__global__ void compute_overlapped(Call call, int from) {
  const int64_t column = blockIdx.x * int64_t{32} + threadIdx.x;
  float y = 0;
  if (column < call.n) {
    y = run_column<4>(call, column, 0, from, y);
  }
  cudaTriggerProgrammaticLaunchCompletion();
  if (column < call.n) {
    run_column<4>(call, column, from, call.steps, y);
  }
}

// `share` of a call has passed when the next one may begin.
inline int launch_overlapped(const Call& call, double share) {
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(blocks_for(call.n));
  config.blockDim = dim3(32);
  config.stream = call.stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  const int from = static_cast<int>(share * call.steps) / 4 * 4;
  return cudaLaunchKernelEx(&config, compute_overlapped, call, from) != cudaSuccess;
}

}  // namespace
