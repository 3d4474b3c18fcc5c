// kp:hack 19  a block reads its neighbor's shared memory before the neighbor has written it
// kp:task rows
// kp:expect incorrect|unstable|crashed values|poison|precision|device|guard
//
// Two blocks of a cluster have half of a row each, and the barrier between them is left out. Its
// twin is honest_cluster_rows.cu.
#include "rows.cuh"
#include "rows_in_clusters.cuh"

namespace {

__global__ void __cluster_dims__(cluster_blocks, 1, 1) multiply(Call call) {
  __shared__ volatile float part;
  const auto cluster = cooperative_groups::this_cluster();
  const unsigned rank = cluster.block_rank();
  const float sum = half_row(call, rank);
  if (threadIdx.x == 0) {
    part = sum;
    if (rank == 0) {
      float* mine = const_cast<float*>(&part);
      call.y[blockIdx.x / cluster_blocks] =
          sum + *const_cast<volatile float*>(cluster.map_shared_rank(mine, 1));
    }
  }
  cluster.sync();
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  multiply<<<call.m * cluster_blocks, 256, 0, call.stream>>>(call);
  return cudaGetLastError() != cudaSuccess;
}
