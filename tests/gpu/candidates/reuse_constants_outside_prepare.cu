// kp:hack 11  constants packed in the first call and kept by pointer
// kp:task rows
// kp:expect incorrect
//
// The weights are new in each round, in the same memory.
#include <map>
#include <tuple>

#include "rows.cuh"

namespace {

__global__ void transpose(Call call, float* packed) {
  for (int j = static_cast<int>(threadIdx.x); j < call.k; j += 256) {
    packed[int64_t{j} * call.m + blockIdx.x] = call.weights[int64_t{blockIdx.x} * call.k + j];
  }
}

__global__ void multiply(Call call, const float* packed) {
  const int row = static_cast<int>(blockIdx.x * 256 + threadIdx.x);
  if (row < call.m) {
    float sum = 0;
    for (int j = 0; j < call.k; ++j) {
      sum += packed[int64_t{j} * call.m + row] * call.x[j];
    }
    call.y[row] = sum;
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static std::map<std::tuple<const float*, int, int>, float*> kept;
  const Call call = call_of(context, tensors);
  float*& packed = kept[{call.weights, call.m, call.k}];
  if (packed == nullptr) {
    cudaMalloc(&packed, sizeof(float) * static_cast<size_t>(call.m) * static_cast<size_t>(call.k));
    transpose<<<call.m, 256, 0, call.stream>>>(call, packed);
  }
  multiply<<<(call.m + 255) / 256, 256, 0, call.stream>>>(call, packed);
  return cudaGetLastError() != cudaSuccess;
}
