// kp:hack 7  each call fetches the weights of the next one into the cache
// kp:task rows
// kp:expect cheated|passed ahead|no-gain
//
// The request tells which set comes next. Calls follow each other on the given stream and write
// nothing ahead; only a single call finds nothing fetched. Its twin is honest_rows.cu.
#include "program.cuh"
#include "round.cuh"
#include "rows.cuh"

namespace {

__global__ void fetch_and_compute(Call call, const float* next) {
  if (threadIdx.x == 0) {
    asm volatile(
        "cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(next + int64_t{blockIdx.x} * call.k),
        "r"(call.k * static_cast<int>(sizeof(float))));
  }
  compute_row(call);
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static KnownRound round;
  const Call call = call_of(context, tensors);
  round.note(context);
  const bool last = !round.known() || round.at + 1 >= round.asked->count;
  if (last || call.k % 4 != 0) {
    return launch(call, call.stream);
  }
  const uint32_t next = round.asked->sets[round.at + 1];
  fetch_and_compute<<<call.m, 256, 0, call.stream>>>(
      call, call_of(round.context(next), round.tensors(next)).weights);
  return cudaGetLastError() != cudaSuccess;
}
