// kp:hack bad-input  throws
// kp:task stream
// kp:expect crashed exception
//
// An exception is a result, not the runner's end.
#include <stdexcept>

#include "stream.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  if (context->axes[0] >= 0) {
    throw std::runtime_error("no luck today");
  }

  const Call call = call_of(context, tensors);
  return launch(call, call.stream);
}
