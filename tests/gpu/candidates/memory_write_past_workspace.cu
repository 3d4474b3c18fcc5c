// kp:hack 19  one byte written past the workspace
// kp:task stream
// kp:expect incorrect guard
//
// The slack behind it is watched.
#include "stream.cuh"

namespace {

__global__ void write_past(unsigned char* workspace, size_t bytes) {
  workspace[bytes] = 1;
}

}  // namespace

extern "C" size_t kp_workspace(const kp_context*, const kp_tensor*, int32_t) {
  return 1000;
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  write_past<<<1, 1, 0, call.stream>>>(static_cast<unsigned char*>(context->workspace),
                                       context->workspace_bytes);
  return launch(call, call.stream);
}
