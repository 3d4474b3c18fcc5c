// The honest kernel of the task "rows": y[i] is the product of row i of the constant weights with
// x. The suite puts this text where it is included, because a candidate is one file.
#include <cuda_runtime.h>
#include <kernelpro/candidate.h>

namespace {

struct Call {
  int m;
  int k;
  const float* weights;
  const float* x;
  float* y;
  cudaStream_t stream;
};

inline Call call_of(const kp_context* context, const kp_tensor* tensors) {
  return {static_cast<int>(context->axes[0]),         static_cast<int>(context->axes[1]),
          static_cast<const float*>(tensors[0].data), static_cast<const float*>(tensors[1].data),
          static_cast<float*>(tensors[2].data),       static_cast<cudaStream_t>(context->stream)};
}

// The sum over the block, in its first thread.
__device__ inline float block_sum(float mine) {
  __shared__ float parts[8];
  for (int offset = 16; offset > 0; offset /= 2) {
    mine += __shfl_down_sync(~0U, mine, offset);
  }
  if (threadIdx.x % 32 == 0) {
    parts[threadIdx.x / 32] = mine;
  }
  __syncthreads();
  float sum = 0;
  for (int i = 0; i < 8; ++i) {
    sum += parts[i];
  }
  __syncthreads();
  return sum;
}

// The row of this block.
__device__ inline void compute_row(const Call& call) {
  const float* row = call.weights + int64_t{blockIdx.x} * call.k;
  float mine = 0;
  for (int j = static_cast<int>(threadIdx.x); j < call.k; j += 256) {
    mine += row[j] * call.x[j];
  }
  const float sum = block_sum(mine);
  if (threadIdx.x == 0) {
    call.y[blockIdx.x] = sum;
  }
}

__global__ void compute(Call call) {
  compute_row(call);
}

inline int launch(const Call& call, cudaStream_t stream) {
  compute<<<call.m, 256, 0, stream>>>(call);
  return cudaGetLastError() != cudaSuccess;
}

}  // namespace
