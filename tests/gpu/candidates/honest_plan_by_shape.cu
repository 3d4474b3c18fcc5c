// kp:hack honest  a launch plan kept by shape
// kp:task stream
// kp:expect passed
// kp:twin reuse_by_shape.cu
//
// What depends on shapes alone may live between calls.
#include <map>

#include "stream.cuh"

namespace {

struct Plan {
  unsigned blocks = 0;
  cudaEvent_t done = nullptr;
};

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static std::map<int64_t, Plan> plans;
  const Call call = call_of(context, tensors);
  Plan& plan = plans[call.n];
  if (plan.blocks == 0) {
    plan.blocks = blocks_for(call.n);
    cudaEventCreateWithFlags(&plan.done, cudaEventDisableTiming);
  }
  compute<<<plan.blocks, 256, 0, call.stream>>>(call);
  cudaEventRecord(plan.done, call.stream);
  return cudaGetLastError() != cudaSuccess;
}
