// kp:hack 7  a whole round in one cooperative kernel, call after call
// kp:task rows
// kp:expect cheated|incorrect|unstable|passed ahead|late_work|poison|clock|values|no-gain
//
// A barrier over the grid stands between the calls, so none overlaps another: only what launching
// takes is saved, by knowing the list of the round. A call by itself has nothing to save, and its
// claim is true. Its twin is honest_cooperative.cu.
#include <cooperative_groups.h>

#include "program.cuh"
#include "round.cuh"
#include "rows.cuh"
#include "rows_calls.cuh"

namespace {

__global__ void __launch_bounds__(256) compute_round(const __grid_constant__ AllCalls all) {
  for (uint32_t at = 0; at < all.count; ++at) {
    for (int row = static_cast<int>(blockIdx.x); row < all.m; row += static_cast<int>(gridDim.x)) {
      compute_row_of(all, at, row);
    }
    cooperative_groups::this_grid().sync();
  }
}

unsigned resident_blocks() {
  int multiprocessors = 0;
  int blocks = 0;
  cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, compute_round, 256, 0);
  return static_cast<unsigned>(multiprocessors * blocks);
}

}  // namespace

extern "C" size_t kp_workspace(const kp_context*, const kp_tensor*, int32_t) {
  return 0;
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static const unsigned blocks = resident_blocks();
  static KnownRound known_round;
  const Call call = call_of(context, tensors);
  const bool first = known_round.note(context);
  if (!known_round.known() || known_round.asked->count == 1) {
    return launch(call, call.stream);
  }
  if (!first) {
    return 0;
  }
  AllCalls all = all_calls(known_round);
  void* arguments[] = {&all};
  return cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(compute_round), blocks, 256,
                                     arguments, 0, call.stream) != cudaSuccess;
}
