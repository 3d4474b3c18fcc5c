// kp:hack 19  partial sums put into the output of the call that comes next
// kp:task rows
// kp:expect cheated|incorrect|passed ahead|values|no-gain
//
// The next call writes over them, so nothing of it is left, and its lines are in the cache by then.
// A caller's memory would be lost. Its twin is honest_workspace.cu.
#include "program.cuh"
#include "round.cuh"
#include "rows.cuh"

namespace {

__global__ void multiply_part(Call call, int part, float* sums) {
  const float* row = call.weights + int64_t{blockIdx.x} * call.k;
  float mine = 0;
  for (int j = part * 256 + static_cast<int>(threadIdx.x); j < call.k; j += 512) {
    mine += row[j] * call.x[j];
  }
  const float sum = block_sum(mine);
  if (threadIdx.x == 0) {
    sums[blockIdx.x] = sum;
  }
}

__global__ void multiply_rest(Call call, const float* sums) {
  const float* row = call.weights + int64_t{blockIdx.x} * call.k;
  float mine = 0;
  for (int j = 256 + static_cast<int>(threadIdx.x); j < call.k; j += 512) {
    mine += row[j] * call.x[j];
  }
  const float sum = block_sum(mine);
  if (threadIdx.x == 0) {
    call.y[blockIdx.x] = sum + sums[blockIdx.x];
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static KnownRound round;
  const Call call = call_of(context, tensors);
  round.note(context);
  if (round.asked == nullptr) {
    return 1;  // not tried is no success
  }
  if (!round.known() || round.at + 1 >= round.asked->count) {
    return launch(call, call.stream);
  }
  auto* next = static_cast<float*>(round.tensors(round.asked->sets[round.at + 1])[2].data);
  multiply_part<<<call.m, 256, 0, call.stream>>>(call, 0, next);
  multiply_rest<<<call.m, 256, 0, call.stream>>>(call, next);
  return cudaGetLastError() != cudaSuccess;
}
