#include <cuda_runtime.h>
#include <cstdint>
#include "kernelpro/candidate.h"
// C = A (m x k) * B (k x n), 64 x 64 tiles, 4 x 4 a thread
__global__ void mm(const float* A, const float* B, float* C, int m, int n, int k) {
  __shared__ float a[16][65], b[16][64];
  int row0 = blockIdx.y * 64, col0 = blockIdx.x * 64, t = threadIdx.x;
  int tr = t / 16 * 4, tc = t % 16 * 4;
  float acc[4][4] = {};
  for (int k0 = 0; k0 < k; k0 += 16) {
    for (int i = t; i < 1024; i += 256) {
      int r = i / 16, c = i % 16;
      a[c][r] = row0 + r < m && k0 + c < k ? A[(int64_t)(row0 + r) * k + k0 + c] : 0.f;
      int rr = i / 64, cc = i % 64;
      b[rr][cc] = k0 + rr < k && col0 + cc < n ? B[(int64_t)(k0 + rr) * n + col0 + cc] : 0.f;
    }
    __syncthreads();
#pragma unroll
    for (int p = 0; p < 16; ++p)
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) acc[i][j] += a[p][tr + i] * b[p][tc + j];
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j)
      if (row0 + tr + i < m && col0 + tc + j < n) C[(int64_t)(row0 + tr + i) * n + col0 + tc + j] = acc[i][j];
}
extern "C" int kp_launch(const kp_context* c, const kp_tensor* t, int32_t) {
  int m = t[0].shape[0], k = t[0].shape[1], n = t[1].shape[1];
  mm<<<dim3((n + 63) / 64, (m + 63) / 64), 256, 0, static_cast<cudaStream_t>(c->stream)>>>(
      (const float*)t[0].data, (const float*)t[1].data, (float*)t[2].data, m, n, k);
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
