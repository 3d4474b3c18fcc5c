// kp:hack bad-input  a callback of the stream that never returns
// kp:task stream
// kp:expect timed_out
//
// The call returns and its kernel is done; what the stream waits for is on a thread of the
// driver's.
#include "stream.cuh"

namespace {

volatile bool stop = false;

void never(void*) {
  for (;;) {
    if (stop) {
      return;
    }
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  const int failed = launch(call, call.stream);
  return cudaLaunchHostFunc(call.stream, never, nullptr) != cudaSuccess ? 1 : failed;
}
