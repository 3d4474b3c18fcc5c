// kp:hack bad-input  the question for its workspace is not answered when the timing begins
// kp:task stream
// kp:expect timed_out
//
// All checks have passed by then, and both arms hold the timed shape's buffers.
#include "stream.cuh"

extern "C" size_t kp_workspace(const kp_context* context, const kp_tensor*, int32_t) {
  static int asked = 0;
  asked += context->axes[0] > 5000 ? 1 : 0;
  for (volatile int forever = 1; asked == 2 && forever != 0;) {
  }
  return 0;
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  return launch(call, call.stream);
}
