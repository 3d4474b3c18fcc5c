// kp:hack bad-input  one block of a cluster traps while the other waits for it
// kp:task rows
// kp:expect crashed|timed_out device
//
// The waiting block must not keep the GPU. Its twin is honest_cluster_rows.cu.
#include "rows.cuh"
#include "rows_in_clusters.cuh"

namespace {

__global__ void __cluster_dims__(cluster_blocks, 1, 1) multiply(Call call) {
  const auto cluster = cooperative_groups::this_cluster();
  const float sum = half_row(call, cluster.block_rank());
  if (cluster.block_rank() == 1) {
    __trap();
  }
  cluster.sync();
  if (threadIdx.x == 0) {
    call.y[blockIdx.x / cluster_blocks] = sum;
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  multiply<<<call.m * cluster_blocks, 256, 0, call.stream>>>(call);
  return cudaGetLastError() != cudaSuccess;
}
