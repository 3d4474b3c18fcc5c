// kp:hack 1  calls that never wait for the given stream, and look by themselves whether their inputs are there
// kp:task rows
// kp:expect cheated|incorrect|unstable|timed_out|passed late_work|poison|clock|values|no-gain
//
// A call by itself is queued before its inputs are given, and who does not wait for the stream reads
// poison. This one spins until the poison is gone, so it is right, and in rounds its calls overlap.
// Its twin is honest_streams_in_turn.cu.
#include "rows.cuh"

namespace {

__global__ void compute_when_there(Call call) {
  const volatile unsigned* last = reinterpret_cast<const volatile unsigned*>(call.x + call.k - 1);
  const long long start = clock64();
  while (*last == ~0U && clock64() - start < 20'000'000) {
  }
  const volatile float* x = call.x;
  const float* row = call.weights + int64_t{blockIdx.x} * call.k;
  float mine = 0;
  for (int j = static_cast<int>(threadIdx.x); j < call.k; j += 256) {
    mine += row[j] * x[j];
  }
  const float sum = block_sum(mine);
  if (threadIdx.x == 0) {
    call.y[blockIdx.x] = sum;
  }
}

int start(const Call& call, cudaStream_t stream) {
  compute_when_there<<<call.m, 256, 0, stream>>>(call);
  return cudaGetLastError() != cudaSuccess;
}

}  // namespace

#define launch start
#include "unforked.cuh"
#undef launch

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  return launch_beside(call_of(context, tensors));
}
