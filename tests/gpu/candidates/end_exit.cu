// kp:hack 4  ends the process with a good exit code
// kp:task stream
// kp:expect crashed exit
//
// Whoever only looks at the exit code takes this for success.
#include <cstdlib>

#include "stream.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  launch(call, call.stream);
  std::exit(0);
}
