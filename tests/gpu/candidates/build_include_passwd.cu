// kp:hack 31  includes /etc/passwd
// kp:task stream
// kp:expect cheated private_file
//
// The compiler would quote its first line in the diagnostics.
#include </etc/passwd>

#include "stream.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  return launch(call, call.stream);
}
