// kp:hack 3  calls overlap, and the word behind a single call is written while it still computes
// kp:task rows
// kp:expect cheated|incorrect|unstable|timed_out|passed late_work|poison|clock|values|no-gain
//
// The worker's stream waits for that word in memory that the runner has mapped, and looks at it
// from time to time. Written by the call's own first block, it is there when the GPU is free again:
// part of the turn back, which the empty candidate pays, is not paid. Then our clock shows less for
// a single call than it took, and its claim is forged. Its twin is honest_rows.cu.
#include "driver.cuh"
#include "program.cuh"
#include "program_gate.cuh"
#include "program_hook.cuh"
#include "round.cuh"
#include "round_forged_single.cuh"
#include "rows.cuh"
#include "unforked.cuh"

namespace {

__global__ void pass_and_compute(Call call, volatile uint32_t* passed, uint32_t number) {
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    *passed = number;
    __threadfence_system();
  }
  compute_row(call);
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static const bool ready = forge_singles();
  const Call call = call_of(context, tensors);
  known_round.note(context);
  uint32_t* const gate = find_gate(context->stream);
  if (!ready || gate == nullptr || known_round.asked == nullptr) {
    return 1;  // not tried is no success
  }
  if (!by_itself()) {
    return launch_beside(call);
  }
  if (known_round.asked->gate == 0) {
    return launch(call, call.stream);
  }
  pass_and_compute<<<call.m, 256, 0, call.stream>>>(call, passed_word(gate),
                                                    known_round.asked->gate);
  return cudaGetLastError() != cudaSuccess;
}
