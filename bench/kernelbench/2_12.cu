// x W^T + b, times 2, leaky ReLU, in one kernel.
#include <cuda_runtime.h>

#include <cstdint>

#include "kernelpro/candidate.h"

namespace {

constexpr int tile = 128, depth = 16, pad = 4;

__device__ float finish(float v) { return 2 * v > 0 ? 2 * v : 0.1f * (2 * v); }

// C (m x n) = finish(X (m x k) W (n x k)^T + b): 128 x 128 a block, 8 x 8 a thread, two buffers.
__global__ __launch_bounds__(256) void linear(const float* X, const float* W, const float* b,
                                              float* C, int n, int k, int last) {
  __shared__ float xs[2][depth][tile + pad], ws[2][depth][tile + pad];
  const int t = threadIdx.x, row0 = blockIdx.y * tile, col0 = blockIdx.x * tile;
  const int r = t / 4, q = t % 4 * 4;
  const float* x = X + static_cast<int64_t>(row0 + r) * k + q;
  const float* w = W + static_cast<int64_t>(col0 + r) * k + q;
  const int64_t half = static_cast<int64_t>(64) * k;
  float4 fx[2], fw[2];
  const auto fetch = [&](int k0) {
    fx[0] = *reinterpret_cast<const float4*>(x + k0);
    fx[1] = *reinterpret_cast<const float4*>(x + half + k0);
    fw[0] = *reinterpret_cast<const float4*>(w + k0);
    fw[1] = *reinterpret_cast<const float4*>(w + half + k0);
  };
  const auto put = [&](int buffer) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      xs[buffer][q][r + 64 * h] = fx[h].x;
      xs[buffer][q + 1][r + 64 * h] = fx[h].y;
      xs[buffer][q + 2][r + 64 * h] = fx[h].z;
      xs[buffer][q + 3][r + 64 * h] = fx[h].w;
      ws[buffer][q][r + 64 * h] = fw[h].x;
      ws[buffer][q + 1][r + 64 * h] = fw[h].y;
      ws[buffer][q + 2][r + 64 * h] = fw[h].z;
      ws[buffer][q + 3][r + 64 * h] = fw[h].w;
    }
  };
  const int tr = t / 16 * 4, tc = t % 16 * 4;
  float acc[8][8] = {};
  fetch(0);
  put(0);
  __syncthreads();
  int buffer = 0;
  for (int k0 = 0; k0 < k; k0 += depth) {
    const bool more = k0 + depth < k;
    if (more) {
      fetch(k0 + depth);
    }
#pragma unroll
    for (int p = 0; p < depth; ++p) {
      float a[8], c[8];
      *reinterpret_cast<float4*>(a) = *reinterpret_cast<const float4*>(&xs[buffer][p][tr]);
      *reinterpret_cast<float4*>(a + 4) = *reinterpret_cast<const float4*>(&xs[buffer][p][tr + 64]);
      *reinterpret_cast<float4*>(c) = *reinterpret_cast<const float4*>(&ws[buffer][p][tc]);
      *reinterpret_cast<float4*>(c + 4) = *reinterpret_cast<const float4*>(&ws[buffer][p][tc + 64]);
#pragma unroll
      for (int i = 0; i < 8; ++i) {
#pragma unroll
        for (int j = 0; j < 8; ++j) {
          acc[i][j] = fmaf(a[i], c[j], acc[i][j]);
        }
      }
    }
    if (more) {
      put(1 - buffer);
      __syncthreads();
      buffer = 1 - buffer;
    }
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const int row = row0 + tr + i % 4 + i / 4 * 64;
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      const int col = col0 + tc + j % 4 + j / 4 * 64;
      const float v = acc[i][j] + b[col];
      C[static_cast<int64_t>(row) * n + col] = last != 0 ? v : finish(v);
    }
  }
}

void launch(const kp_context* context, const float* x, const kp_tensor& w, const kp_tensor& b,
            float* c, int64_t m, bool last) {
  const int n = static_cast<int>(w.shape[0]), k = static_cast<int>(w.shape[1]);
  linear<<<dim3(n / tile, static_cast<unsigned>(m / tile)), 256, 0,
           static_cast<cudaStream_t>(context->stream)>>>(
      x, static_cast<const float*>(w.data), static_cast<const float*>(b.data), c, n, k,
      last ? 1 : 0);
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* t, int32_t) {
  launch(context, static_cast<const float*>(t[0].data), t[1], t[2], static_cast<float*>(t[3].data),
         t[0].shape[0], false);
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
