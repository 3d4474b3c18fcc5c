// kp:hack bad-input  the given stream waits for a word that nobody writes
// kp:task stream
// kp:expect timed_out
//
// No kernel runs and no processor is used: the queue alone stands still, in the middle of a round.
#include "driver.cuh"
#include "stream.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static int timed = 0;
  const Call call = call_of(context, tensors);
  timed += call.n > 5000 ? 1 : 0;
  const int failed = launch(call, call.stream);
  if (timed != 40) {
    return failed;
  }
  void* word = nullptr;
  const auto wait = driver_function<CUresult (*)(CUstream, CUdeviceptr, cuuint32_t, unsigned)>(
      "cuStreamWaitValue32_v2");
  if (wait == nullptr || cudaMalloc(&word, 4) != cudaSuccess ||
      cudaMemsetAsync(word, 0, 4, call.stream) != cudaSuccess) {
    return 1;
  }
  return wait(call.stream, reinterpret_cast<CUdeviceptr>(word), 1, CU_STREAM_WAIT_VALUE_EQ) !=
         CUDA_SUCCESS;
}
