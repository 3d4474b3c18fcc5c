// The honest kernels of the task "spread": y[i] = gain[i] times the root of the mean of the squares
// in row i. The suite puts this text where it is included, because a candidate is one file.
#include <cuda_runtime.h>
#include <kernelpro/candidate.h>

namespace {

constexpr int parts = 128;  // of a row, a block each

struct Call {
  int m;
  int64_t k;
  const float* x;
  const float* gain;
  float* y;
  float* sums;  // of the parts
  cudaStream_t stream;
};

inline Call call_of(const kp_context* context, const kp_tensor* tensors) {
  return {static_cast<int>(context->axes[0]),         context->axes[1],
          static_cast<const float*>(tensors[0].data), static_cast<const float*>(tensors[1].data),
          static_cast<float*>(tensors[2].data),       static_cast<float*>(context->workspace),
          static_cast<cudaStream_t>(context->stream)};
}

// The sum over a block of 256 threads, in all of them.
__device__ inline float block_sum(float mine) {
  __shared__ float warps[8];
  for (int offset = 16; offset > 0; offset /= 2) {
    mine += __shfl_down_sync(~0U, mine, offset);
  }
  if (threadIdx.x % 32 == 0) {
    warps[threadIdx.x / 32] = mine;
  }
  __syncthreads();
  float sum = 0;
  for (int i = 0; i < 8; ++i) {
    sum += warps[i];
  }
  __syncthreads();
  return sum;
}

// Where a part of a row begins.
__device__ inline int64_t edge(const Call& call, int part) {
  return call.k * part / parts;
}

__device__ inline float length_of(const Call& call, float squares) {
  return sqrtf(squares / static_cast<float>(call.k));
}

__global__ void add_squares(Call call) {
  const int part = static_cast<int>(blockIdx.x);
  const float* row = call.x + blockIdx.y * call.k;
  float mine = 0;
  for (int64_t j = edge(call, part) + threadIdx.x; j < edge(call, part + 1); j += 256) {
    mine += row[j] * row[j];
  }
  const float sum = block_sum(mine);
  if (threadIdx.x == 0) {
    call.sums[blockIdx.y * parts + part] = sum;
  }
}

__global__ void finish(Call call) {
  const float sum =
      block_sum(threadIdx.x < parts ? call.sums[blockIdx.x * parts + threadIdx.x] : 0);
  if (threadIdx.x == 0) {
    call.y[blockIdx.x] = call.gain[blockIdx.x] * length_of(call, sum);
  }
}

inline int launch(const Call& call, cudaStream_t stream) {
  add_squares<<<dim3(parts, call.m), 256, 0, stream>>>(call);
  finish<<<call.m, 256, 0, stream>>>(call);
  return cudaGetLastError() != cudaSuccess;
}

}  // namespace

extern "C" size_t kp_workspace(const kp_context* context, const kp_tensor*, int32_t) {
  return static_cast<size_t>(context->axes[0]) * parts * sizeof(float);
}
