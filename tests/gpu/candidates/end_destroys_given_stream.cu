// kp:hack bad-input  destroys the stream that was given
// kp:task stream
// kp:expect crashed|launch_failed|timed_out|incorrect|cheated
//
// The stamp behind the call has nowhere to go.
#include "stream.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  const int failed = launch(call, call.stream);
  return failed | static_cast<int>(cudaStreamDestroy(call.stream));
}
