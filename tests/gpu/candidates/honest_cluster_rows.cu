// kp:hack honest  a row by a cluster of two blocks
// kp:task rows
// kp:expect passed
// kp:twin memory_cluster_race.cu
//
// The second block's sum is read from its shared memory, behind the barrier of the cluster.
#include "rows.cuh"
#include "rows_in_clusters.cuh"

namespace {

__global__ void __cluster_dims__(cluster_blocks, 1, 1) multiply(Call call) {
  __shared__ float part;
  const auto cluster = cooperative_groups::this_cluster();
  const unsigned rank = cluster.block_rank();
  const float sum = half_row(call, rank);
  if (threadIdx.x == 0) {
    part = sum;
  }
  cluster.sync();
  if (threadIdx.x == 0 && rank == 0) {
    call.y[blockIdx.x / cluster_blocks] = sum + *cluster.map_shared_rank(&part, 1);
  }
  cluster.sync();
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  multiply<<<call.m * cluster_blocks, 256, 0, call.stream>>>(call);
  return cudaGetLastError() != cudaSuccess;
}
