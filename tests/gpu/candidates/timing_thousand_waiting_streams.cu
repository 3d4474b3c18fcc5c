// kp:hack 30  a thousand streams of a second context that wait for ever
// kp:task stream
// kp:expect cheated|passed|timed_out|launch_failed|out_of_memory|crashed clock|status|no-gain
//
// Each has a kernel queued behind a word that nobody writes; the GPU's scheduler has them all on
// its lists in everybody's rounds. Its twin is honest_thread_idle.cu.
#include "driver.cuh"
#include "second_context.cuh"
#include "stream.cuh"

namespace {

constexpr int streams = 1000;

__global__ void nothing() {}

bool wait_for_ever() {
  const auto wait = driver_function<CUresult (*)(CUstream, CUdeviceptr, cuuint32_t, unsigned)>(
      "cuStreamWaitValue32_v2");
  return in_context(make_second_context(), [wait] {
    void* word = nullptr;
    cudaMalloc(&word, 4);
    cudaMemset(word, 0, 4);
    cudaDeviceSynchronize();
    for (int i = 0; i < streams; ++i) {
      cudaStream_t stream = nullptr;
      if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess) {
        break;
      }
      wait(stream, reinterpret_cast<CUdeviceptr>(word), 1, CU_STREAM_WAIT_VALUE_EQ);
      if (i < 64) {
        nothing<<<1, 1, 0, stream>>>();
      }
    }
  });
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  cudaFree(nullptr);
  static const bool waiting = wait_for_ever();
  static_cast<void>(cudaGetLastError());
  const Call call = call_of(context, tensors);
  return waiting ? launch(call, call.stream) : 1;
}
