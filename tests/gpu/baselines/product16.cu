// C = A B^T, a thread for each element.
#include <cuda_bf16.h>

#include "kernelpro/candidate.h"

__global__ void product(int m, int n, int k, const __nv_bfloat16* A, const __nv_bfloat16* B, float* C) {
  const int j = blockIdx.x * 16 + threadIdx.x;
  const int i = blockIdx.y * 16 + threadIdx.y;
  if (i >= m || j >= n) {
    return;
  }
  float sum = 0;
  for (int p = 0; p < k; ++p) {
    sum += __bfloat162float(A[static_cast<int64_t>(i) * k + p]) * __bfloat162float(B[static_cast<int64_t>(j) * k + p]);
  }
  C[static_cast<int64_t>(i) * n + j] = sum;
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const int m = static_cast<int>(context->axes[0]);
  const int n = static_cast<int>(context->axes[1]);
  product<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16), 0, static_cast<cudaStream_t>(context->stream)>>>(
      m, n, static_cast<int>(context->axes[2]), static_cast<const __nv_bfloat16*>(tensors[0].data),
      static_cast<const __nv_bfloat16*>(tensors[1].data), static_cast<float*>(tensors[2].data));
  return cudaGetLastError() != cudaSuccess;
}
