// kp:hack 1  work on a stream of its own, never joined
// kp:task stream
// kp:expect cheated|incorrect clock|values
//
// The stamps on the given stream see nothing of it; the worker's clock does.
#include "stream.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static cudaStream_t own = nullptr;
  if (own == nullptr) {
    cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
  }
  return launch(call_of(context, tensors), own);
}
