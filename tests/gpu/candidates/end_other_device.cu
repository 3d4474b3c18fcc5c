// kp:hack bad-input  chooses another GPU
// kp:task stream
// kp:expect launch_failed|crashed status|device|guard
//
// Only one can be seen.
#include "stream.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  if (const cudaError_t code = cudaSetDevice(1); code != cudaSuccess) {
    return code;
  }

  const Call call = call_of(context, tensors);
  return launch(call, call.stream);
}
