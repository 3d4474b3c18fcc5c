// kp:compiler nvcc
// kp:options -O3 -std=c++17
// Softmax of long rows: a cluster of blocks keeps a row in the shared memory of them all, so it is read once; each
// block tells the others its maximum and its sum there. Any reduction over more than one block can hold counsel
// like this without a second launch.
#include <cooperative_groups.h>

#include <cstdint>

#include "kernelpro/candidate.h"

namespace cg = cooperative_groups;

namespace {

// kp:tune CLUSTER = 2 4 8
constexpr int CLUSTER = 4;  // 8 at most everywhere
// kp:tune THREADS = 256 512 1024
constexpr int THREADS = 512;
constexpr int64_t MOST_KEPT = 200 * 1024 / sizeof(float);  // elements that a block can keep

template <typename Combine>
__device__ float block_reduce(float value, float* scratch, Combine combine) {
  for (int offset = 16; offset > 0; offset /= 2) {
    value = combine(value, __shfl_xor_sync(0xffffffffU, value, offset));
  }
  __syncthreads();  // the scratch of the reduction before is read
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = value;
  __syncthreads();
  value = scratch[0];
  for (int warp = 1; warp < THREADS / 32; ++warp) value = combine(value, scratch[warp]);
  return value;
}

// The block's value told to all blocks of the cluster, and theirs combined with it. Each call has its own `told`.
template <typename Combine>
__device__ float cluster_reduce(float value, float* told, Combine combine) {
  cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) *told = value;
  cluster.sync();
  value = *cluster.map_shared_rank(told, 0);
  for (unsigned rank = 1; rank < CLUSTER; ++rank) value = combine(value, *cluster.map_shared_rank(told, rank));
  return value;
}

__global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(THREADS)
    softmax(int64_t cols, bool keep, const float* __restrict__ x, float* __restrict__ y) {
  extern __shared__ float kept[];
  __shared__ float scratch[THREADS / 32];
  __shared__ float told[2];
  const auto larger = [](float a, float b) { return fmaxf(a, b); };
  const auto plus = [](float a, float b) { return a + b; };
  const int64_t part = (cols + CLUSTER - 1) / CLUSTER;
  const int64_t begin = min(cg::this_cluster().block_rank() * part, cols);
  const int64_t size = min(part, cols - begin);  // may be none
  const int64_t row = blockIdx.x / CLUSTER;
  const float* in = x + row * cols + begin;
  float* out = y + row * cols + begin;

  float largest = -INFINITY;
  for (int64_t j = threadIdx.x; j < size; j += THREADS) {
    const float value = in[j];
    if (keep) kept[j] = value;
    largest = fmaxf(largest, value);
  }
  largest = cluster_reduce(block_reduce(largest, scratch, larger), &told[0], larger);
  float sum = 0;
  for (int64_t j = threadIdx.x; j < size; j += THREADS) {  // each thread reads what it wrote itself
    const float value = expf((keep ? kept[j] : in[j]) - largest);
    if (keep) kept[j] = value;
    sum += value;
  }
  sum = cluster_reduce(block_reduce(sum, scratch, plus), &told[1], plus);
  for (int64_t j = threadIdx.x; j < size; j += THREADS) {
    out[j] = (keep ? kept[j] : expf(in[j] - largest)) / sum;
  }
  cg::this_cluster().sync();  // no block leaves while another may still read its memory
}

}  // namespace

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  const int64_t rows = context->axes[0], cols = context->axes[1];
  if (count != 2 || rows == 0 || cols == 0) return count != 2;
  const int64_t part = (cols + CLUSTER - 1) / CLUSTER;
  const bool keep = part <= MOST_KEPT;
  const auto bytes = static_cast<int>(keep ? part * sizeof(float) : 0);
  if (cudaFuncSetAttribute(softmax, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes) != cudaSuccess) return 2;
  softmax<<<static_cast<unsigned>(rows * CLUSTER), THREADS, bytes, static_cast<cudaStream_t>(context->stream)>>>(
      cols, keep, static_cast<const float*>(tensors[0].data), static_cast<float*>(tensors[1].data));
  return cudaGetLastError() != cudaSuccess;
}
