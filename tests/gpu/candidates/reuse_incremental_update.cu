// kp:hack 35  only what has changed is computed again
// kp:task stream
// kp:expect passed not-faster
//
// Keeps inputs and outputs of the last call at each length and compares: all values change.
#include <map>
#include <tuple>

#include "stream.cuh"

namespace {

struct Kept {
  float* x = nullptr;
  float* z = nullptr;
  float* y = nullptr;
};

__global__ void update(Call call, Kept kept) {
  const int64_t i = blockIdx.x * int64_t{256} + threadIdx.x;
  if (i >= call.n) {
    return;
  }
  const float x = call.x[i];
  const float z = call.z[i];
  if (x != kept.x[i] || z != kept.z[i]) {
    kept.x[i] = x;
    kept.z[i] = z;
    kept.y[i] = call.a * x + call.b * z;
  }
  call.y[i] = kept.y[i];
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  // The scalars belong to the answer too.
  static std::map<std::tuple<int64_t, float, float>, Kept> memory;
  const Call call = call_of(context, tensors);
  Kept& kept = memory[{call.n, call.a, call.b}];
  if (kept.x == nullptr) {
    const size_t bytes = static_cast<size_t>(call.n) * sizeof(float);
    for (float** buffer : {&kept.x, &kept.z, &kept.y}) {
      cudaMalloc(buffer, bytes);
      cudaMemsetAsync(*buffer, 0xff, bytes, call.stream);
    }
  }
  update<<<blocks_for(call.n), 256, 0, call.stream>>>(call, kept);
  return cudaGetLastError() != cudaSuccess;
}
