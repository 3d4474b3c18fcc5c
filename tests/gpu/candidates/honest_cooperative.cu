// kp:hack honest  one cooperative kernel with a barrier over the grid
// kp:task rows
// kp:expect passed
// kp:twin memory_race.cu
//
// Partial sums, the barrier, then the rows.
#include <cooperative_groups.h>

#include "rows.cuh"

namespace {

constexpr int parts = 4;

__global__ void multiply(Call call, float* sums) {
  for (int at = static_cast<int>(blockIdx.x); at < call.m * parts;
       at += static_cast<int>(gridDim.x)) {
    const float* row = call.weights + int64_t{at / parts} * call.k;
    float mine = 0;
    for (int j = static_cast<int>(at % parts * 256 + threadIdx.x); j < call.k; j += parts * 256) {
      mine += row[j] * call.x[j];
    }
    const float sum = block_sum(mine);
    if (threadIdx.x == 0) {
      sums[at] = sum;
    }
  }
  cooperative_groups::this_grid().sync();
  for (int row = static_cast<int>(blockIdx.x * 256 + threadIdx.x); row < call.m;
       row += static_cast<int>(gridDim.x * 256)) {
    call.y[row] = (sums[row * parts] + sums[row * parts + 1]) +
                  (sums[row * parts + 2] + sums[row * parts + 3]);
  }
}

unsigned resident_blocks() {
  int device = 0;
  int multiprocessors = 0;
  int blocks = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, multiply, 256, 0);
  return static_cast<unsigned>(multiprocessors * blocks);
}

}  // namespace

extern "C" size_t kp_workspace(const kp_context* context, const kp_tensor*, int32_t) {
  return static_cast<size_t>(context->axes[0]) * parts * sizeof(float);
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static const unsigned blocks = resident_blocks();
  Call call = call_of(context, tensors);
  auto* sums = static_cast<float*>(context->workspace);
  void* arguments[] = {&call, &sums};
  return cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(multiply), blocks, 256,
                                     arguments, 0, call.stream);
}
