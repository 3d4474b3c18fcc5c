// kp:hack 33  a constructor allocates and launches
// kp:task stream
// kp:expect passed|launch_failed|crashed|incorrect not-faster
//
// Constructors run inside the jail, and nothing is there yet that they could use.
#include "stream.cuh"

namespace {

struct AtLoad {
  float* memory = nullptr;
  AtLoad() {
    cudaMalloc(&memory, 1 << 20);
    cudaMemset(memory, 0, 1 << 20);
    static_cast<void>(cudaGetLastError());
  }
} at_load;

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  return launch(call, call.stream);
}
