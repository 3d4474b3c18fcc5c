// Products that hand their sums on, as the layers of networks do, instead of writing them.
#pragma once

#include <type_traits>

#include "gemm.cuh"
#include "wgmma.cuh"

namespace defects {

template <class T>
using SumOf = std::conditional_t<std::is_same_v<T, std::int8_t>, int, float>;

// ---- what becomes of the sums ----
//
// d[0] belongs to (row, column), d[1] to the column after it, d[2] and d[3] eight rows below.

struct BiasRelu {
  __half* y;
  const float* bias;
  int n;

  __device__ void operator()(int row, int column, const float (&d)[4]) const {
    const float2 add = *reinterpret_cast<const float2*>(bias + column);
    __half* place = y + static_cast<std::size_t>(row) * n + column;
    *reinterpret_cast<__half2*>(place) =
        __floats2half2_rn(fmaxf(d[0] + add.x, 0.0f), fmaxf(d[1] + add.y, 0.0f));
    *reinterpret_cast<__half2*>(place + 8 * static_cast<std::size_t>(n)) =
        __floats2half2_rn(fmaxf(d[2] + add.x, 0.0f), fmaxf(d[3] + add.y, 0.0f));
  }
};

struct Integers {
  int* y;
  int n;

  __device__ void operator()(int row, int column, const int (&d)[4]) const {
    int* place = y + static_cast<std::size_t>(row) * n + column;
    *reinterpret_cast<int2*>(place) = {d[0], d[1]};
    *reinterpret_cast<int2*>(place + 8 * static_cast<std::size_t>(n)) = {d[2], d[3]};
  }
};

// So many steps that they take the time, not the product.
constexpr int kDecaySteps = 256;
constexpr float kDecay = 0.9999f;
constexpr float kDecayAdd = 1e-3f;

struct Decay {
  float* y;
  int n;

  __device__ void operator()(int row, int column, const float (&d)[4]) const {
    float x[4] = {d[0], d[1], d[2], d[3]};
#pragma unroll 16
    for (int i = 0; i < kDecaySteps; ++i) {
#pragma unroll
      for (float& each : x) each = fmaf(each, kDecay, kDecayAdd);
    }
    float* place = y + static_cast<std::size_t>(row) * n + column;
    *reinterpret_cast<float2*>(place) = {x[0], x[1]};
    *reinterpret_cast<float2*>(place + 8 * static_cast<std::size_t>(n)) = {x[2], x[3]};
  }
};

// ---- products that hand their sums to `finish` ----

template <class T, class Tile>
struct WarpSums {
  static constexpr int rows = Tile::bm / Tile::row_warps;
  static constexpr int columns = Tile::bn / Tile::column_warps;
  static constexpr int tall = rows / 16;
  static constexpr int wide = columns / 8;

  SumOf<T> d[tall][wide][4] = {};

  // Both addresses are the lane's, in the first row and the first byte of k of its warp.
  __device__ __forceinline__ void multiply_stage(unsigned a, unsigned b) {
#pragma unroll
    for (int kb = 0; kb < Tile::k_bytes; kb += 32) {
      unsigned left[tall][4];
      unsigned right[wide / 2][4];
#pragma unroll
      for (int i = 0; i < tall; ++i) load_matrices(left[i], a + i * 16 * Tile::pitch + kb);
#pragma unroll
      for (int j = 0; j < wide / 2; ++j) load_matrices(right[j], b + j * 16 * Tile::pitch + kb);
#pragma unroll
      for (int i = 0; i < tall; ++i) {
#pragma unroll
        for (int j = 0; j < wide; ++j) {
          multiply_step(d[i][j], left[i], right[j / 2][j % 2 * 2], right[j / 2][j % 2 * 2 + 1],
                        T{});
        }
      }
    }
  }
};

template <class T, class Tile, class Finish>
__global__ void __launch_bounds__(Tile::threads)
    finished_mma(Finish finish, const T* a, const T* b, int k) {
  extern __shared__ __align__(128) unsigned char finished_memory[];
  using Sums = WarpSums<T, Tile>;
  const unsigned base = shared_address(finished_memory);
  const std::size_t row_bytes = static_cast<std::size_t>(k) * sizeof(T);
  const char* a_rows = reinterpret_cast<const char*>(a) + blockIdx.y * Tile::bm * row_bytes;
  const char* b_rows = reinterpret_cast<const char*>(b) + blockIdx.x * Tile::bn * row_bytes;
  const int tiles = static_cast<int>(row_bytes / Tile::k_bytes);
  const int lane = threadIdx.x % 32;
  const int warp_row = threadIdx.x / 32 / Tile::column_warps * Sums::rows;
  const int warp_column = threadIdx.x / 32 % Tile::column_warps * Sums::columns;
  const unsigned a_lane = (warp_row + lane % 16) * Tile::pitch + lane / 16 * 16;
  const unsigned b_lane =
      (Tile::bm + warp_column + lane % 8 + lane / 16 * 8) * Tile::pitch + lane / 8 % 2 * 16;
  const auto load = [&](int t) {
    if (t < tiles) {
      const std::size_t first = static_cast<std::size_t>(t) * Tile::k_bytes;
      load_stage<Tile>(base + t % Tile::stages * Tile::stage_bytes, a_rows + first, b_rows + first,
                       row_bytes);
    }
    commit_copies();
  };

  Sums sums;
#pragma unroll
  for (int t = 0; t < Tile::stages - 1; ++t) load(t);
  for (int t = 0; t < tiles; ++t) {
    wait_copies<Tile::stages - 2>();
    __syncthreads();
    load(t + Tile::stages - 1);
    const unsigned stage = base + t % Tile::stages * Tile::stage_bytes;
    sums.multiply_stage(stage + a_lane, stage + b_lane);
  }
  const int row = blockIdx.y * Tile::bm + warp_row + lane / 4;
  const int column = blockIdx.x * Tile::bn + warp_column + lane % 4 * 2;
#pragma unroll
  for (int i = 0; i < Sums::tall; ++i) {
#pragma unroll
    for (int j = 0; j < Sums::wide; ++j) finish(row + i * 16, column + j * 8, sums.d[i][j]);
  }
}

template <class T, class Tile, class Finish, class Place = PlaceInGrid>
__global__ void __launch_bounds__(kWgmmaThreads, 1)
    finished_wgmma(Finish finish, const __grid_constant__ CUtensorMap a,
                   const __grid_constant__ CUtensorMap b, int m, int n, int tiles) {
  SumOf<T> sum[Tile::parts][64];
  if (!wgmma_tile<T, Tile, Place>(sum, a, b, m, n, tiles)) return;
  const int row = Place::y() * kWgmmaRows + threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4;
  const int column = Place::x() * Tile::columns + threadIdx.x % 4 * 2;
#pragma unroll
  for (int p = 0; p < Tile::parts; ++p) {
#pragma unroll
    for (int j = 0; j < 16; ++j) {
      const SumOf<T> d[4] = {sum[p][j * 4], sum[p][j * 4 + 1], sum[p][j * 4 + 2],
                             sum[p][j * 4 + 3]};
      finish(row, column + p * 128 + j * 8, d);
    }
  }
}

// ---- the same by wgmma, in another way ----

// Blocks in stripes of so many rows of tiles, columns after rows: those that run at once share
// more of both operands.
template <int ROWS>
struct PlaceInStripe {
  __device__ static int inside() {
    return (blockIdx.y * gridDim.x + blockIdx.x) % (ROWS * gridDim.x);
  }
  __device__ static int y() { return blockIdx.y / ROWS * ROWS + inside() % ROWS; }
  __device__ static int x() { return inside() / ROWS; }
};

// A warp's 16 rows go through shared memory, and out as whole lines.
template <class Tile>
__global__ void __launch_bounds__(kWgmmaThreads, 1)
    bias_rows_wgmma(BiasRelu finish, const __grid_constant__ CUtensorMap a,
                    const __grid_constant__ CUtensorMap b, int m, int n, int tiles) {
  extern __shared__ unsigned char memory[];
  constexpr int pitch = Tile::columns * 2 + 16;
  constexpr int words = Tile::columns / 8;  // of 16 bytes, in a row
  static_assert(kWgmmaRows * pitch <= Tile::stages * Tile::stage_bytes);
  float sum[Tile::parts][64];
  if (!wgmma_tile<__half, Tile>(sum, a, b, m, n, tiles)) return;
  // Where the last tiles are; both warpgroups are done with them.
  asm volatile("bar.sync 1, 256;" ::: "memory");
  const int lane = threadIdx.x % 32;
  const int first_row = threadIdx.x / 32 * 16;
  const int first_column = blockIdx.x * Tile::columns;
  unsigned char* own = memory + (1024 - shared_address(memory) % 1024) % 1024 + first_row * pitch;
#pragma unroll
  for (int p = 0; p < Tile::parts; ++p) {
#pragma unroll
    for (int j = 0; j < 16; ++j) {
      const int column = p * 128 + j * 8 + lane % 4 * 2;
      const float2 add = *reinterpret_cast<const float2*>(finish.bias + first_column + column);
      const float* d = sum[p] + j * 4;
      unsigned char* place = own + lane / 4 * pitch + column * 2;
      *reinterpret_cast<__half2*>(place) =
          __floats2half2_rn(fmaxf(d[0] + add.x, 0.0f), fmaxf(d[1] + add.y, 0.0f));
      *reinterpret_cast<__half2*>(place + 8 * pitch) =
          __floats2half2_rn(fmaxf(d[2] + add.x, 0.0f), fmaxf(d[3] + add.y, 0.0f));
    }
  }
  __syncwarp();
  const std::size_t row = blockIdx.y * kWgmmaRows + first_row + lane / words;
  __half* out = finish.y + row * n + first_column + lane % words * 8;
  const unsigned char* from = own + lane / words * pitch + lane % words * 16;
#pragma unroll
  for (int i = 0; i < 16; i += 32 / words) {
    *reinterpret_cast<uint4*>(out + static_cast<std::size_t>(i) * n) =
        *reinterpret_cast<const uint4*>(from + i * pitch);
  }
}

}  // namespace defects
