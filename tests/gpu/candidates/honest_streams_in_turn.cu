// kp:hack honest  calls on streams in turn, each behind the given one and before it
// kp:task rows
// kp:expect passed
// kp:twin timing_unforked_streams.cu
//
// Nothing overlaps; it only shows that streams of its own are no offense.
#include "rows.cuh"

namespace {

constexpr int streams = 4;

struct Turn {
  cudaStream_t stream = nullptr;
  cudaEvent_t begin = nullptr;
  cudaEvent_t done = nullptr;
  Turn() {
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&begin, cudaEventDisableTiming);
    cudaEventCreateWithFlags(&done, cudaEventDisableTiming);
  }
};

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static const Turn turns[streams];
  static int next = 0;
  const Turn& turn = turns[next++ % streams];
  const Call call = call_of(context, tensors);
  cudaEventRecord(turn.begin, call.stream);
  cudaStreamWaitEvent(turn.stream, turn.begin, 0);
  const int failed = launch(call, turn.stream);
  cudaEventRecord(turn.done, turn.stream);
  cudaStreamWaitEvent(call.stream, turn.done, 0);
  return failed;
}
