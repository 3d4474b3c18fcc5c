#include <cuda_runtime.h>

namespace ops {

// One block for each row.
template <typename T>
__global__ void row_norm_kernel(const T* __restrict__ x, T* __restrict__ norms, int cols) {
  extern __shared__ float partial[];
  const T* row = x + static_cast<size_t>(blockIdx.x) * cols;
  float sum = 0.0f;
  for (int j = threadIdx.x; j < cols; j += blockDim.x) sum += row[j] * row[j];
  partial[threadIdx.x] = sum;
  __syncthreads();
  for (int half_width = blockDim.x / 2; half_width > 0; half_width /= 2) {
    if (threadIdx.x < half_width) partial[threadIdx.x] += partial[threadIdx.x + half_width];
    __syncthreads();
  }
  if (threadIdx.x == 0) norms[blockIdx.x] = sqrtf(partial[0]);
}

template <typename T>
cudaError_t row_norm(const T* x, T* norms, int rows, int cols) {
  constexpr int threads = 256;
  row_norm_kernel<T><<<rows, threads, threads * sizeof(float)>>>(x, norms, cols);
  return cudaGetLastError();
}

}  // namespace ops
