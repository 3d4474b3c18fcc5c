// kp:compiler nvcc
// kp:options -O3 -std=c++17
// C = A B in f32 with stream-K: the steps along k of all tiles of C lie in one row, and every block takes an equal
// part of it. So all SMs finish together, whether there are three tiles or a last wave of three. A block's first
// and last tile may be shared with its neighbors: such pieces go to the workspace, and a second kernel adds them
// in the order of the blocks, the same in every call.
#include <cstdint>

#include "kernelpro/candidate.h"

namespace {

constexpr int TILE = 64, STEP = 16, THREADS = 256;
// kp:tune PER_SM = 1 2 4
constexpr int PER_SM = 2;

struct Work {
  int64_t m, n, k;
  int64_t tiles_n, steps;  // steps of one tile
  int64_t all;             // steps of all tiles
  int64_t blocks;          // at most `all`: nobody goes without

  __host__ __device__ int64_t begin(int64_t block) const { return all * block / blocks; }
  // Whose the step is.
  __host__ __device__ int64_t owner(int64_t step) const {
    int64_t block = step * blocks / all;
    while (begin(block + 1) <= step) ++block;
    return block;
  }
  // The piece of a tile that the block computed, of the two that it may leave.
  __host__ __device__ int64_t piece(int64_t block, int64_t tile) const {
    return 2 * block + (begin(block) / steps == tile ? 0 : 1);
  }
};

Work work_of(const kp_context* context) {
  Work work{context->axes[0], context->axes[1], context->axes[2]};
  int processors = 0;
  cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, context->device_id);
  work.tiles_n = (work.n + TILE - 1) / TILE;
  work.steps = (work.k + STEP - 1) / STEP;
  work.all = (work.m + TILE - 1) / TILE * work.tiles_n * work.steps;
  const int64_t most = static_cast<int64_t>(processors) * PER_SM;
  work.blocks = work.all < most ? work.all : most;
  return work;
}

// The sums of 4 x 4 elements a thread over steps [from, to) of a tile.
__device__ void multiply(const Work& w, int64_t tile, int64_t from, int64_t to, const float* __restrict__ A,
                         const float* __restrict__ B, float (&sums)[4][4]) {
  __shared__ float a[STEP][TILE + 4];
  __shared__ float b[STEP][TILE];
  const int64_t row = tile / w.tiles_n * TILE, column = tile % w.tiles_n * TILE;
  const int y = threadIdx.x / 16 * 4, x = threadIdx.x % 16 * 4;
  for (int64_t step = from; step < to; ++step) {
    for (int e = threadIdx.x; e < TILE * STEP; e += THREADS) {
      const int64_t i = row + e / STEP, p = step * STEP + e % STEP;
      const int64_t q = step * STEP + e / TILE, j = column + e % TILE;
      a[e % STEP][e / STEP] = i < w.m && p < w.k ? A[i * w.k + p] : 0;
      b[e / TILE][e % TILE] = q < w.k && j < w.n ? B[q * w.n + j] : 0;
    }
    __syncthreads();
#pragma unroll
    for (int p = 0; p < STEP; ++p) {
#pragma unroll
      for (int e = 0; e < 16; ++e) sums[e / 4][e % 4] += a[p][y + e / 4] * b[p][x + e % 4];
    }
    __syncthreads();
  }
}

__global__ void __launch_bounds__(THREADS)
    product(Work w, const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C,
            float* __restrict__ pieces) {
  const int y = threadIdx.x / 16 * 4, x = threadIdx.x % 16 * 4;
  const int64_t end = w.begin(blockIdx.x + 1);
  for (int64_t step = w.begin(blockIdx.x); step < end;) {
    const int64_t tile = step / w.steps, first = tile * w.steps;
    const int64_t until = min(end, first + w.steps);
    float sums[4][4] = {};
    multiply(w, tile, step - first, until - first, A, B, sums);
    const bool whole = until - step == w.steps;
    float* piece = pieces + w.piece(blockIdx.x, tile) * TILE * TILE;
#pragma unroll
    for (int e = 0; e < 16; ++e) {
      const int64_t i = tile / w.tiles_n * TILE + y + e / 4, j = tile % w.tiles_n * TILE + x + e % 4;
      if (!whole) {
        piece[(y + e / 4) * TILE + x + e % 4] = sums[e / 4][e % 4];
      } else if (i < w.m && j < w.n) {
        C[i * w.n + j] = sums[e / 4][e % 4];
      }
    }
    step = until;
  }
}

// A block for each tile: adds up what several left of it.
__global__ void __launch_bounds__(THREADS) add_pieces(Work w, const float* __restrict__ pieces, float* __restrict__ C) {
  const int64_t tile = blockIdx.x;
  const int64_t from = w.owner(tile * w.steps), to = w.owner((tile + 1) * w.steps - 1);
  if (from == to) return;
  for (int e = threadIdx.x; e < TILE * TILE; e += THREADS) {
    const int64_t i = tile / w.tiles_n * TILE + e / TILE, j = tile % w.tiles_n * TILE + e % TILE;
    float sum = 0;
    for (int64_t block = from; block <= to; ++block) sum += pieces[w.piece(block, tile) * TILE * TILE + e];
    if (i < w.m && j < w.n) C[i * w.n + j] = sum;
  }
}

}  // namespace

size_t kp_workspace(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  (void)tensors;
  (void)count;
  return static_cast<size_t>(work_of(context).blocks) * 2 * TILE * TILE * sizeof(float);
}

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  const Work work = work_of(context);
  if (count != 3 || work.m == 0 || work.n == 0) return count != 3;
  if (work.k == 0) return 2;
  const auto stream = static_cast<cudaStream_t>(context->stream);
  auto* pieces = static_cast<float*>(context->workspace);
  auto* C = static_cast<float*>(tensors[2].data);
  product<<<static_cast<unsigned>(work.blocks), THREADS, 0, stream>>>(
      work, static_cast<const float*>(tensors[0].data), static_cast<const float*>(tensors[1].data), C, pieces);
  add_pieces<<<static_cast<unsigned>(work.all / work.steps), THREADS, 0, stream>>>(work, pieces, C);
  return cudaGetLastError() != cudaSuccess;
}
