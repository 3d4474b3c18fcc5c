#include <cuda_runtime.h>

#include "check.cuh"

__host__ __device__ inline int at(int i, int j, int nx) { return i * nx + j; }

__global__ void __launch_bounds__(256) heat_kernel(const float* t, float* next, int ny, int nx,
                                                   float k) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  const int i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= ny || j >= nx) return;
  const float here = t[at(i, j, nx)];
  if (i == 0 || j == 0 || i == ny - 1 || j == nx - 1) {
    next[at(i, j, nx)] = here;
    return;
  }
  next[at(i, j, nx)] = here + k * (t[at(i - 1, j, nx)] + t[at(i + 1, j, nx)] +
                                   t[at(i, j - 1, nx)] + t[at(i, j + 1, nx)] - 4.0f * here);
}

void heat_step(const float* t, float* next, int ny, int nx, float k, cudaStream_t stream) {
  const dim3 block(32, 8);
  const dim3 grid(ceil_div(nx, block.x), ceil_div(ny, block.y));
  heat_kernel<<<grid, block, 0, stream>>>(t, next, ny, nx, k);
}

static void heat_step_host(const float* t, float* next, int ny, int nx, float k) {
  for (int i = 0; i < ny; ++i) {
    for (int j = 0; j < nx; ++j) {
      const float here = t[at(i, j, nx)];
      const bool rim = i == 0 || j == 0 || i == ny - 1 || j == nx - 1;
      next[at(i, j, nx)] =
          rim ? here
              : here + k * (t[at(i - 1, j, nx)] + t[at(i + 1, j, nx)] + t[at(i, j - 1, nx)] +
                            t[at(i, j + 1, nx)] - 4.0f * here);
    }
  }
}
