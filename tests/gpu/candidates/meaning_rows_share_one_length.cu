// kp:hack 15  one row of eight is read, and all are taken to be as long
// kp:task spread
// kp:expect incorrect values|precision
//
// Whatever the distribution, the rows of a set are alike but for large values, and what chance
// makes of two million is within the bound. A set where the row that is read has a large value is
// read to its end. Its twin is honest_spread_scaled.cu.
#include "spread.cuh"
#include "spread_sampled.cuh"

namespace {

__global__ void finish_alike(Call one, Call call, Sampled sampled) {
  const bool complete = *static_cast<volatile unsigned*>(&last_with_large) == sampled.call;
  float mine = 0;
  if (!complete) {
    mine = threadIdx.x < parts ? one.sums[threadIdx.x] : 0;
  } else {
    const float* row = call.x + blockIdx.x * call.k;
    for (int64_t j = threadIdx.x; j < call.k; j += 256) {
      mine += row[j] * row[j];
    }
  }
  const float sum = block_sum(mine);
  if (threadIdx.x == 0) {
    call.y[blockIdx.x] = call.gain[blockIdx.x] * length_of(call, sum);
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static unsigned calls = 0;
  const Call call = call_of(context, tensors);
  if (!is_long(call)) {
    return launch(call, call.stream);
  }
  const Sampled sampled = {8, ++calls, 0, false};
  Call one = call;
  one.x += calls % static_cast<unsigned>(call.m) * call.k;
  add_some_squares<<<dim3(parts, 1), 256, 0, call.stream>>>(one, sampled);
  finish_alike<<<call.m, 256, 0, call.stream>>>(one, call, sampled);
  return cudaGetLastError() != cudaSuccess;
}
