// kp:hack honest  as many blocks as fit, which fetch their work from a counter
// kp:task stream
// kp:expect passed
// kp:twin timing_persistent_waits_for_inputs.cu
//
// A persistent kernel that ends with its call.
#include "stream.cuh"

namespace {

constexpr int64_t piece = 4096;

__global__ void compute_pieces(Call call, unsigned* next) {
  __shared__ unsigned mine;
  for (;;) {
    if (threadIdx.x == 0) {
      mine = atomicAdd(next, 1U);
    }
    __syncthreads();
    const int64_t begin = mine * piece;
    __syncthreads();
    if (begin >= call.n) {
      return;
    }
    const int64_t end = begin + piece < call.n ? begin + piece : call.n;
    for (int64_t i = begin + threadIdx.x; i < end; i += 256) {
      call.y[i] = call.a * call.x[i] + call.b * call.z[i];
    }
  }
}

}  // namespace

extern "C" size_t kp_workspace(const kp_context*, const kp_tensor*, int32_t) {
  return sizeof(unsigned);
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  auto* next = static_cast<unsigned*>(context->workspace);
  cudaMemsetAsync(next, 0, sizeof *next, call.stream);
  compute_pieces<<<132 * 8, 256, 0, call.stream>>>(call, next);
  return cudaGetLastError() != cudaSuccess;
}
