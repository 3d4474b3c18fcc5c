// kp:hack honest  all work on a stream of high priority, behind the given one and before it
// kp:task stream
// kp:expect passed
// kp:twin timing_thread_at_arrival.cu
//
// Priorities of streams are the candidate's own business: they order its own kernels.
#include "stream.cuh"

namespace {

struct Urgent {
  cudaStream_t stream = nullptr;
  cudaEvent_t begin = nullptr;
  cudaEvent_t done = nullptr;
  Urgent() {
    int least = 0;
    int most = 0;
    cudaDeviceGetStreamPriorityRange(&least, &most);
    cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, most);
    cudaEventCreateWithFlags(&begin, cudaEventDisableTiming);
    cudaEventCreateWithFlags(&done, cudaEventDisableTiming);
  }
};

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static const Urgent urgent;
  const Call call = call_of(context, tensors);
  cudaEventRecord(urgent.begin, call.stream);
  cudaStreamWaitEvent(urgent.stream, urgent.begin, 0);
  const int failed = launch(call, urgent.stream);
  cudaEventRecord(urgent.done, urgent.stream);
  cudaStreamWaitEvent(call.stream, urgent.done, 0);
  return failed;
}
