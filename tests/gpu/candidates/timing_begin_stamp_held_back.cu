// kp:hack 3  the given stream held back until a call by itself is queued, so that it starts at once
// kp:task rows
// kp:expect cheated|incorrect|unstable|timed_out|passed late_work|poison|clock|values|no-gain
//
// By itself a call starts from an empty queue: between the first stamp and the kernel the host
// launches, for some microseconds, and as much is taken off for the incumbent's sake. Here the
// stream waits for a word of the host's from before the first stamp on, so that stamp, kernel and
// stamp follow each other at once: what is taken off hides the overlap of the rounds that count.
// Its twin is honest_streams_in_turn.cu.
#include "driver.cuh"
#include "program.cuh"
#include "program_hook.cuh"
#include "round.cuh"
#include "rows.cuh"
#include "unforked.cuh"

namespace {

KnownRound known_round;
cudaStream_t given = nullptr;
volatile unsigned* word = nullptr;  // of the host; the stream goes on when it is 1
CUdeviceptr word_there = 0;
bool held = false;

int hold_back() {
  const auto wait = driver_function<CUresult (*)(CUstream, CUdeviceptr, cuuint32_t, unsigned)>(
      "cuStreamWaitValue32_v2");
  if (given == nullptr || known_round.asked == nullptr || !plausible(*known_round.asked) ||
      known_round.asked->count != 1) {
    return 0;
  }
  *word = 0;
  held = wait(given, word_there, 1, CU_STREAM_WAIT_VALUE_EQ) == CUDA_SUCCESS;
  return 0;
}

bool set_up() {
  void* here = nullptr;
  void* there = nullptr;
  if (cudaHostAlloc(&here, sizeof(unsigned), cudaHostAllocMapped) != cudaSuccess ||
      cudaHostGetDevicePointer(&there, here, 0) != cudaSuccess) {
    return false;
  }
  word = static_cast<volatile unsigned*>(here);
  word_there = reinterpret_cast<CUdeviceptr>(there);
  return call_before_ready(hold_back);
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static const bool ready = set_up();
  const Call call = call_of(context, tensors);
  known_round.note(context);
  given = call.stream;
  if (!held) {
    static int missed = 0;
    const bool alone = known_round.asked != nullptr && known_round.asked->count == 1;
    missed += alone ? 1 : 0;
    return !ready || missed > 5 ? 1 : launch_beside(call);  // not tried is no success
  }
  const int failed = launch(call, call.stream);
  held = false;
  *word = 1;
  return failed;
}
