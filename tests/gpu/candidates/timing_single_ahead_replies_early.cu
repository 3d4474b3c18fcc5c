// kp:hack 2  calls overlap, and a call by itself begins before the word and ends behind the reply
// kp:task filter
// kp:expect cheated|incorrect|unstable|timed_out|passed late_work|poison|clock|values|no-gain
//
// Without a gate, as in timing_single_ahead_without_gate.cu. The kernel tells the host when it has
// begun, and then the runner replies: its turn lasts until it is done, and the copy of the outputs
// waits for that turn. So both ends of the hand-over are beside the call, which hides some forty
// microseconds of it. In rounds four calls are under way at a time. Its twin is
// honest_filter_waits_inside.cu.
#include <chrono>

#include "driver.cuh"
#include "filter.cuh"
#include "program.cuh"
#include "program_hook.cuh"
#include "round.cuh"
#include "single_ahead.cuh"
#include "unforked.cuh"

namespace {

volatile unsigned* begun_here = nullptr;  // the request whose call is under way
unsigned* begun_there = nullptr;
cudaStream_t given = nullptr;
bool timed = false;
int (*real_wait)() = nullptr;

__global__ void compute_and_tell(Call call, unsigned* begun, unsigned number) {
  if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 0) {
    *static_cast<volatile unsigned*>(begun) = number;
    __threadfence_system();
  }
  const int64_t column = blockIdx.x * int64_t{32} + threadIdx.x;
  if (column < call.n) {
    run_column<4>(call, column, 0, call.steps, 0.0F);
  }
}

int queue_telling(const Call& call, cudaStream_t stream) {
  compute_and_tell<<<blocks_for(call.n), 32, 0, stream>>>(call, begun_there,
                                                          known_round.asked->sequence);
  return cudaGetLastError() != cudaSuccess;
}

int wait_for_begin() {
  using Clock = std::chrono::steady_clock;
  // In checks late work would be found, and nothing is timed there.
  if (!is_queued() || !timed) {
    return real_wait();
  }
  const Clock::time_point start = Clock::now();
  while (*begun_here != queued) {
    if (Clock::now() - start > std::chrono::milliseconds(50)) {
      return real_wait();
    }
  }
  return cudaStreamSynchronize(given);  // the stamps on it
}

bool set_up() {
  void* here = nullptr;
  void* there = nullptr;
  if (cudaHostAlloc(&here, sizeof(unsigned), cudaHostAllocMapped) != cudaSuccess ||
      cudaHostGetDevicePointer(&there, here, 0) != cudaSuccess) {
    return false;
  }
  begun_here = static_cast<volatile unsigned*>(here);
  begun_there = static_cast<unsigned*>(there);
  real_wait = driver_function<int (*)()>("cuCtxSynchronize");
  return go_ahead_with(queue_telling) &&
         replace_in_program("cuCtxSynchronize", reinterpret_cast<void*>(wait_for_begin));
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static const bool ready = set_up();
  const Call call = call_of(context, tensors);
  known_round.note(context);
  given = call.stream;
  timed |= known_round.asked != nullptr && known_round.asked->count > 16;
  if (!ready || known_round.asked == nullptr) {
    return 1;  // not tried is no success
  }
  return alone() ? launch_alone(call) : launch_beside(call);
}
