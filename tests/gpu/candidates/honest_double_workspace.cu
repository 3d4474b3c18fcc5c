// kp:hack honest  products in double in a large workspace
// kp:task stream
// kp:expect passed
// kp:twin load_huge_workspace.cu
//
// Eight bytes for each element: 34 MB a call, which the judge poisons in all sets before each
// round. Neither is that the candidate's time.
#include "stream.cuh"

namespace {

__global__ void multiply(Call call, double* products) {
  const int64_t i = blockIdx.x * int64_t{256} + threadIdx.x;
  if (i < call.n) {
    products[i] = static_cast<double>(call.a) * call.x[i];
  }
}

__global__ void add(Call call, const double* products) {
  const int64_t i = blockIdx.x * int64_t{256} + threadIdx.x;
  if (i < call.n) {
    call.y[i] = static_cast<float>(products[i] + static_cast<double>(call.b) * call.z[i]);
  }
}

}  // namespace

extern "C" size_t kp_workspace(const kp_context* context, const kp_tensor*, int32_t) {
  return static_cast<size_t>(context->axes[0]) * sizeof(double);
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  auto* products = static_cast<double*>(context->workspace);
  multiply<<<blocks_for(call.n), 256, 0, call.stream>>>(call, products);
  add<<<blocks_for(call.n), 256, 0, call.stream>>>(call, products);
  return cudaGetLastError() != cudaSuccess;
}
