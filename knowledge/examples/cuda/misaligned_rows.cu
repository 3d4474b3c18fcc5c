// kp:compiler nvcc
// kp:options -O3
// y = x scaled by a weight of each column, rows of any length: each row has a head up to the next 16 bytes, a body of
// vectors and a tail. Rows of x and y have the same length and so the same head; the weights begin elsewhere and go
// through shared memory, where single words cost nothing.
#include <cstdint>

#include "kernelpro/candidate.h"

namespace {

// kp:tune THREADS = 128 256 512
constexpr int THREADS = 256;
// kp:tune COLUMNS = 1024 2048 4096
constexpr int COLUMNS = 2048;  // of a block, whose weights it keeps
constexpr int ROWS = 16;       // of a block

__device__ void scale(const float* __restrict__ in, const float* weights, float* __restrict__ out, int size) {
  const int head = min(size, static_cast<int>((16 - reinterpret_cast<uintptr_t>(in) % 16) % 16 / 4));
  const int vectors = (size - head) / 4;
  const int tail = head + 4 * vectors;
  if (static_cast<int>(threadIdx.x) < head) out[threadIdx.x] = in[threadIdx.x] * weights[threadIdx.x];
  for (int v = threadIdx.x; v < vectors; v += THREADS) {
    const float4 value = __ldcs(reinterpret_cast<const float4*>(in + head) + v);
    const float* w = weights + head + 4 * v;
    __stcs(reinterpret_cast<float4*>(out + head) + v,
           make_float4(value.x * w[0], value.y * w[1], value.z * w[2], value.w * w[3]));
  }
  for (int i = tail + threadIdx.x; i < size; i += THREADS) out[i] = in[i] * weights[i];
}

__global__ void __launch_bounds__(THREADS)
    scale_rows(int64_t rows, int64_t cols, const float* __restrict__ x, const float* __restrict__ w,
               float* __restrict__ y) {
  __shared__ float weights[COLUMNS];
  const int64_t first = blockIdx.x * int64_t{COLUMNS};
  const int size = static_cast<int>(min(int64_t{COLUMNS}, cols - first));
  for (int i = threadIdx.x; i < size; i += THREADS) weights[i] = w[first + i];
  __syncthreads();
  for (int64_t row = blockIdx.y * int64_t{ROWS}; row < min(rows, (blockIdx.y + int64_t{1}) * ROWS); ++row) {
    scale(x + row * cols + first, weights, y + row * cols + first, size);
  }
}

}  // namespace

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  const int64_t rows = context->axes[0], cols = context->axes[1];
  if (count != 3 || rows == 0 || cols == 0) return count != 3;
  const dim3 blocks(static_cast<unsigned>((cols + COLUMNS - 1) / COLUMNS), static_cast<unsigned>((rows + ROWS - 1) / ROWS));
  scale_rows<<<blocks, THREADS, 0, static_cast<cudaStream_t>(context->stream)>>>(
      rows, cols, static_cast<const float*>(tensors[0].data), static_cast<const float*>(tensors[1].data),
      static_cast<float*>(tensors[2].data));
  return cudaGetLastError() != cudaSuccess;
}
