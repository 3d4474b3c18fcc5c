// kp:hack bad-input  includes what is not there
// kp:task stream
// kp:expect build_failed|cheated private_file
//
// The compiler says so.
#include <no/such/header.h>

#include "stream.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  return launch(call, call.stream);
}
