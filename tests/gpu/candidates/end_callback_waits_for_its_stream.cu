// kp:hack bad-input  a callback of the stream that waits for the stream it is in
// kp:task stream
// kp:expect timed_out|crashed|launch_failed|incorrect|passed device|status|values|no-gain
//
// The driver may refuse it, or hang with its own locks held: then even the runner's wait ends with
// its process alone.
#include "stream.cuh"

namespace {

void wait_for_itself(void* stream) {
  cudaStreamSynchronize(static_cast<cudaStream_t>(stream));
  cudaDeviceSynchronize();
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  const int failed = launch(call, call.stream);
  return cudaLaunchHostFunc(call.stream, wait_for_itself, call.stream) != cudaSuccess ? 1 : failed;
}
