// kp:hack 6  calls overlap, and a copy engine fetches the inputs of a single call while it waits
// kp:task rows
// kp:expect cheated|incorrect|unstable|passed late_work|poison|clock|values|no-gain
//
// Between the arrival of the inputs and the gate the worker sweeps the cache, and a turn follows.
// A stream that waits for the last input word without taking time of the GPU then copies the
// weights again and again, beside the sweep and beyond it, so a call by itself finds them in the
// cache and is as short as one that overlaps. Its twin is honest_streams_in_turn.cu.
#include "driver.cuh"
#include "program.cuh"
#include "round.cuh"
#include "rows.cuh"
#include "unforked.cuh"

namespace {

constexpr int copies = 10;

void fetch_when_given(const Call& call) {
  static cudaStream_t own = nullptr;
  static char* room = nullptr;
  const size_t bytes = sizeof(float) * call.m * call.k;
  if (own == nullptr) {
    cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
    cudaMalloc(&room, bytes);
  }
  const auto wait = driver_function<CUresult (*)(CUstream, CUdeviceptr, cuuint32_t, unsigned)>(
      "cuStreamWaitValue32_v2");
  wait(own, reinterpret_cast<CUdeviceptr>(call.x + call.k - 1), 0, CU_STREAM_WAIT_VALUE_NOR);
  for (int i = 0; i < copies; ++i) {
    cudaMemcpyAsync(room, call.weights, bytes, cudaMemcpyDeviceToDevice, own);
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static KnownRound round;
  const Call call = call_of(context, tensors);
  round.note(context);
  if (round.asked == nullptr) {
    return 1;  // not tried is no success
  }
  if (round.asked->count > 1) {
    return launch_beside(call);
  }
  if (round.asked->gate != 0) {
    fetch_when_given(call);
  }
  return launch(call, call.stream);
}
