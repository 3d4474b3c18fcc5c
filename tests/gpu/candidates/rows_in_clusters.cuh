// A row by a cluster of two blocks, each with half of it. Needs rows.cuh.
#include <cooperative_groups.h>

namespace {

constexpr int cluster_blocks = 2;

// The sum of this block's half, in its first thread.
__device__ inline float half_row(const Call& call, unsigned rank) {
  const float* row = call.weights + int64_t{blockIdx.x / cluster_blocks} * call.k;
  float mine = 0;
  for (int j = static_cast<int>(rank * 256 + threadIdx.x); j < call.k; j += cluster_blocks * 256) {
    mine += row[j] * call.x[j];
  }
  return block_sum(mine);
}

}  // namespace
