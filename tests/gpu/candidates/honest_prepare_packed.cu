// kp:hack honest  weights packed in kp_prepare
// kp:task rows
// kp:expect passed
// kp:twin reuse_constants_outside_prepare.cu
//
// Transposed into the state, anew whenever they change.
#include "rows.cuh"

namespace {

__global__ void transpose(Call call, float* packed) {
  for (int j = static_cast<int>(threadIdx.x); j < call.k; j += 256) {
    packed[int64_t{j} * call.m + blockIdx.x] = call.weights[int64_t{blockIdx.x} * call.k + j];
  }
}

__global__ void multiply(Call call, const float* packed) {
  const int row = static_cast<int>(blockIdx.x * 32 + threadIdx.x);
  if (row < call.m) {
    float sum = 0;
    for (int j = 0; j < call.k; ++j) {
      sum += packed[int64_t{j} * call.m + row] * call.x[j];
    }
    call.y[row] = sum;
  }
}

}  // namespace

extern "C" size_t kp_state(const kp_context* context, const kp_tensor*, int32_t) {
  return static_cast<size_t>(context->axes[0] * context->axes[1]) * sizeof(float);
}

extern "C" int kp_prepare(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  transpose<<<call.m, 256, 0, call.stream>>>(call, static_cast<float*>(context->state));
  return cudaGetLastError() != cudaSuccess;
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  multiply<<<(call.m + 31) / 32, 32, 0, call.stream>>>(call,
                                                       static_cast<const float*>(context->state));
  return cudaGetLastError() != cudaSuccess;
}
