// kp:hack 1  calls on streams in turn that never wait for the given one
// kp:task rows
// kp:expect cheated|incorrect|unstable late_work|poison|clock|values
//
// The given stream waits for each of them, so a round is complete at its end. But work before the
// call on that stream, which may write the inputs, is not waited for, and calls overlap. Its twin,
// honest_streams_in_turn.cu, waits.
#include "rows.cuh"

namespace {

constexpr int streams = 4;

struct Turn {
  cudaStream_t stream = nullptr;
  cudaEvent_t done = nullptr;
  Turn() {
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&done, cudaEventDisableTiming);
  }
};

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static const Turn turns[streams];
  static int next = 0;
  const Turn& turn = turns[next++ % streams];
  const Call call = call_of(context, tensors);
  const int failed = launch(call, turn.stream);
  cudaEventRecord(turn.done, turn.stream);
  cudaStreamWaitEvent(call.stream, turn.done, 0);
  return failed;
}
