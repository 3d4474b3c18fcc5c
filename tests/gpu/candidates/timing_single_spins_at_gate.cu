// kp:hack 3  calls overlap, and a call by itself is a kernel that waits at the gate already
// kp:task rows
// kp:expect cheated|incorrect|unstable|timed_out|passed late_work|poison|clock|values|no-gain
//
// Its blocks are in the multiprocessors before the inputs are there and look at the gate's word, so
// that nothing has to be launched when it opens: a call by itself saves what launching takes, about
// as much as overlapping saves in a round. It takes its turns while the worker gives the inputs.
// Its twin is honest_rows.cu.
#include "driver.cuh"
#include "program.cuh"
#include "program_gate.cuh"
#include "program_hook.cuh"
#include "round.cuh"
#include "round_forged_single.cuh"
#include "rows.cuh"
#include "unforked.cuh"

namespace {

__global__ void compute_behind(Call call, const volatile uint32_t* opened, uint32_t number) {
  if (threadIdx.x == 0) {
    while (*opened < number) {
      __nanosleep(100);
    }
  }
  __syncthreads();
  compute_row(call);
}

int launch_at_gate(const Call& call, uint32_t* gate, uint32_t number) {
  static const Turn own;
  compute_behind<<<call.m, 256, 0, own.stream>>>(call, opened_word(gate), number);
  cudaEventRecord(own.done, own.stream);
  cudaStreamWaitEvent(call.stream, own.done, 0);
  return cudaGetLastError() != cudaSuccess;
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
  const uint32_t number = known_round.asked->gate;
  return number == 0 ? launch(call, call.stream) : launch_at_gate(call, gate, number);
}
