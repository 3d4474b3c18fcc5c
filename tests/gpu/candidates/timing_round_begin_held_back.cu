// kp:hack 3  the given stream held back in whole rounds until half of the calls are queued
// kp:task rows
// kp:expect cheated|incorrect|unstable|passed late_work|poison|clock|values|no-gain
//
// Short calls wait for the host between them. Here the stream waits for a word of the host's from
// before the first stamp on; behind it the calls follow each other at once. Nothing is forged: the
// stamps are true, and the worker's clock alone knows what went before. Its twin is
// honest_streams_in_turn.cu.
#include "driver.cuh"
#include "program.cuh"
#include "program_hook.cuh"
#include "round.cuh"
#include "rows.cuh"

namespace {

KnownRound known_round;
cudaStream_t given = nullptr;
volatile unsigned* word = nullptr;  // of the host; the stream goes on when it is 1
CUdeviceptr word_there = 0;
bool held = false;

int hold_back() {
  const auto wait = driver_function<CUresult (*)(CUstream, CUdeviceptr, cuuint32_t, unsigned)>(
      "cuStreamWaitValue32_v2");
  if (given != nullptr && known_round.asked != nullptr && plausible(*known_round.asked) &&
      known_round.asked->count > 8) {
    *word = 0;
    held = wait(given, word_there, 1, CU_STREAM_WAIT_VALUE_EQ) == CUDA_SUCCESS;
  }
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
  const int failed = launch(call, call.stream);
  if (held && 2 * known_round.at >= known_round.asked->count) {
    held = false;
    *word = 1;
  }
  return ready ? failed : 1;
}
