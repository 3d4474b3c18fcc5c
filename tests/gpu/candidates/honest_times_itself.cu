// kp:hack honest  times its own kernel with its own events
// kp:task stream
// kp:expect passed
// kp:twin timing_record_begin_again.cu
//
// Events are free to use; nothing is made of them.
#include "stream.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static cudaEvent_t begin = nullptr;
  static cudaEvent_t end = nullptr;
  if (begin == nullptr) {
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
  }
  const Call call = call_of(context, tensors);
  cudaEventRecord(begin, call.stream);
  const int failed = launch(call, call.stream);
  cudaEventRecord(end, call.stream);
  return failed;
}
