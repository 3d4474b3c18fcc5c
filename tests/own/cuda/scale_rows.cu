// nvcc -O3 --use_fast_math scale_rows.cu -o scale_rows -lcublas
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_runtime.h>
#include <stdio.h>

#include "assert.h"
#include "lanes.h"

void scale_rows_cpu(float* out, const float* inp, const float* weight, int N, int C, float floor) {
  for (int i = 0; i < N; ++i) {
    float sum = 0.0f;
    for (int j = 0; j < C; ++j) {
      sum += inp[i * C + j] * inp[i * C + j];
    }
    const float scale = 1.0f / sqrtf(sum / C + floor);
    for (int j = 0; j < C; ++j) {
      out[i * C + j] = inp[i * C + j] * scale * weight[j];
    }
  }
}

namespace cg = cooperative_groups;

__device__ float lerp(float start, float end, float weight) {
  return start + weight * (end - start);
}

__device__ float sum_of(cg::thread_block_tile<32>& warp, float mine) {
  return cg::reduce(warp, mine, cg::plus<float>{});
}

__global__ void scale_rows_kernel(Value* out, Value* inp, Value* weight, int N, int C,
                                  float floor) {
  cg::thread_block_tile<32> warp = cg::tiled_partition<32>(cg::this_thread_block());
  const int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  if (row >= N) {
    return;
  }
  float sum = 0.0f;
  for (int j = threadIdx.x % 32; j < C; j += 32) {
    sum += static_cast<float>(inp[row * C + j]) * static_cast<float>(inp[row * C + j]);
  }
  const float scale = 1.0f / sqrtf(sum_of(warp, sum) / C + floor);
  for (int j = threadIdx.x % 32; j < C; j += 32) {
    out[row * C + j] =
        static_cast<Value>(static_cast<float>(inp[row * C + j]) * scale * static_cast<float>(weight[j]));
  }
}

void scale_rows(Value* out, Value* inp, Value* weight, int N, int C, float floor,
                const int block_size) {
  assert(block_size % 32 == 0);
  scale_rows_kernel<<<blocks_of(N * 32, block_size), block_size>>>(out, inp, weight, N, C, floor);
}

int main(int argc, char** argv) {
  set_up();
  printf("%d\n", argc);
  return 0;
}
