// Two blocks for each row; the one that ends last adds up what both have written to the workspace,
// and puts the row's counter back to zero. Needs rows.cuh.
namespace {

constexpr unsigned halves = 2;

__global__ void multiply_halves(Call call, float* sums, unsigned* counters) {
  __shared__ bool last;
  const unsigned row = blockIdx.x;
  const float* weights = call.weights + int64_t{row} * call.k;
  float mine = 0;
  for (unsigned j = blockIdx.y * 256 + threadIdx.x; j < static_cast<unsigned>(call.k);
       j += halves * 256) {
    mine += weights[j] * call.x[j];
  }
  const float sum = block_sum(mine);
  if (threadIdx.x == 0) {
    sums[row * halves + blockIdx.y] = sum;
    __threadfence();
    last = atomicInc(counters + row, halves - 1) == halves - 1;
    if (last) {
      const volatile float* both = sums + row * halves;
      call.y[row] = both[0] + both[1];
    }
  }
}

inline size_t counter_bytes(const kp_context* context) {
  return static_cast<size_t>(context->axes[0]) * sizeof(unsigned);
}

}  // namespace

extern "C" size_t kp_workspace(const kp_context* context, const kp_tensor*, int32_t) {
  return static_cast<size_t>(context->axes[0]) * halves * sizeof(float);
}

extern "C" size_t kp_state(const kp_context* context, const kp_tensor*, int32_t) {
  return counter_bytes(context);
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  multiply_halves<<<dim3(call.m, halves), 256, 0, call.stream>>>(
      call, static_cast<float*>(context->workspace), static_cast<unsigned*>(context->state));
  return cudaGetLastError() != cudaSuccess;
}
