// kp:hack 34  kp_prepare leaves kernels behind that wait for the inputs of their set
// kp:task rows
// kp:expect cheated|incorrect|timed_out|crashed|launch_failed|passed late_work|poison|clock|values|no-gain
//
// kp_prepare is called off the clock, for each set, with all its addresses. What it queues waits
// for the end of the poison on a stream that nobody gave it, and answers before the call comes. Its
// twin is honest_prepare_packed.cu.
#include "driver.cuh"
#include "rows.cuh"

namespace {

bool wait_until_given(cudaStream_t stream, const float* word) {
  const auto wait = driver_function<CUresult (*)(CUstream, CUdeviceptr, cuuint32_t, unsigned)>(
      "cuStreamWaitValue32_v2");
  return wait != nullptr && wait(stream, reinterpret_cast<CUdeviceptr>(word), 0,
                                 CU_STREAM_WAIT_VALUE_NOR) == CUDA_SUCCESS;
}

}  // namespace

extern "C" size_t kp_state(const kp_context*, const kp_tensor*, int32_t) {
  return 256;
}

extern "C" int kp_prepare(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static cudaStream_t own = nullptr;
  if (own == nullptr) {
    cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
  }
  const Call call = call_of(context, tensors);
  return wait_until_given(own, call.x + call.k - 1) ? launch(call, own) : 1;
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  return launch(call, call.stream);
}
