// Matrix products C = A · Bᵀ with A [m][k] and B [n][k] row by row and C [m][n] in f32: on tensor
// cores by mma.sync (HMMA), by wgmma (HGMMA), and without them.
//
// Sizes are multiples of the tiles. grid.z is a batch. All but the multiplication itself works on
// bytes: 32 bytes of k are one step of either instruction, for 8-bit and 16-bit types and for
// TF32 alike.
#pragma once

#include <cuda.h>

#include <cmath>

#include "defects.cuh"

namespace defects {

struct Product {
  int m = 0;
  int n = 0;
  int k = 0;
  int batch = 1;

  [[nodiscard]] double flops() const { return 2.0 * m * n * k * batch; }
  [[nodiscard]] double bytes(int element) const {
    return (1.0 * (m + n) * k * element + 4.0 * m * n) * batch;
  }
};

// ---- mma.sync ----

__device__ __forceinline__ void multiply_step(float (&d)[4], const unsigned (&a)[4], unsigned b0,
                                              unsigned b1, __half /*type*/) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ __forceinline__ void multiply_step(float (&d)[4], const unsigned (&a)[4], unsigned b0,
                                              unsigned b1, __nv_bfloat16 /*type*/) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ __forceinline__ void multiply_step(float (&d)[4], const unsigned (&a)[4], unsigned b0,
                                              unsigned b1, float /*type*/) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ __forceinline__ void multiply_step(int (&d)[4], const unsigned (&a)[4], unsigned b0,
                                              unsigned b1, std::int8_t /*type*/) {
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ __forceinline__ unsigned shared_address(const void* place) {
  return static_cast<unsigned>(__cvta_generic_to_shared(place));
}

__device__ __forceinline__ void load_matrices(unsigned (&r)[4], unsigned address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address));
}

__device__ __forceinline__ void copy_async(unsigned to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from));
}

__device__ __forceinline__ void commit_copies() {
  asm volatile("cp.async.commit_group;");
}

template <int LEFT>
__device__ __forceinline__ void wait_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(LEFT) : "memory");
}

// A block of ROW_WARPS x COLUMN_WARPS warps gives a tile of BM x BN; K_BYTES of each row a stage.
template <int BM, int BN, int ROW_WARPS, int COLUMN_WARPS, int K_BYTES, int PAD_BYTES, int STAGES>
struct MmaTile {
  static constexpr int bm = BM;
  static constexpr int bn = BN;
  static constexpr int row_warps = ROW_WARPS;
  static constexpr int column_warps = COLUMN_WARPS;
  static constexpr int threads = ROW_WARPS * COLUMN_WARPS * 32;
  static constexpr int k_bytes = K_BYTES;
  static constexpr int pitch = K_BYTES + PAD_BYTES;
  static constexpr int stages = STAGES;
  static constexpr int stage_bytes = (BM + BN) * pitch;
  static constexpr int shared_bytes = STAGES * stage_bytes;
};

using Mma128 = MmaTile<128, 128, 2, 4, 64, 16, 4>;
using Mma64 = MmaTile<64, 64, 2, 2, 64, 16, 4>;

template <class Tile>
__device__ __forceinline__ void load_stage(unsigned stage, const char* a, const char* b,
                                           std::size_t row_bytes) {
  constexpr int chunks = Tile::k_bytes / 16;
  constexpr int all = (Tile::bm + Tile::bn) * chunks;
  static_assert(all % Tile::threads == 0);
#pragma unroll
  for (int i = 0; i < all / Tile::threads; ++i) {
    const int index = i * Tile::threads + threadIdx.x;
    const int row = index / chunks;
    const int chunk = index % chunks;
    const char* from = row < Tile::bm ? a + row * row_bytes : b + (row - Tile::bm) * row_bytes;
    copy_async(stage + row * Tile::pitch + chunk * 16, from + chunk * 16);
  }
}

template <class T, class Tile>
__global__ void __launch_bounds__(Tile::threads)
    mma_product(float* c, const T* a, const T* b, int m, int n, int k) {
  extern __shared__ __align__(128) unsigned char memory[];
  constexpr int warp_rows = Tile::bm / Tile::row_warps;
  constexpr int warp_columns = Tile::bn / Tile::column_warps;
  constexpr int tall = warp_rows / 16;
  constexpr int wide = warp_columns / 8;
  const unsigned base = shared_address(memory);
  const std::size_t row_bytes = static_cast<std::size_t>(k) * sizeof(T);
  const char* a_rows =
      reinterpret_cast<const char*>(a) +
      (static_cast<std::size_t>(blockIdx.z) * m + blockIdx.y * Tile::bm) * row_bytes;
  const char* b_rows =
      reinterpret_cast<const char*>(b) +
      (static_cast<std::size_t>(blockIdx.z) * n + blockIdx.x * Tile::bn) * row_bytes;
  const int tiles = static_cast<int>(row_bytes / Tile::k_bytes);
  const int lane = threadIdx.x % 32;
  const int warp_row = threadIdx.x / 32 / Tile::column_warps * warp_rows;
  const int warp_column = threadIdx.x / 32 % Tile::column_warps * warp_columns;
  const unsigned a_lane = (warp_row + lane % 16) * Tile::pitch + lane / 16 * 16;
  const unsigned b_lane =
      (Tile::bm + warp_column + lane % 8 + lane / 16 * 8) * Tile::pitch + lane / 8 % 2 * 16;

  float sum[tall][wide][4] = {};
#pragma unroll
  for (int s = 0; s < Tile::stages - 1; ++s) {
    if (s < tiles) {
      load_stage<Tile>(base + s * Tile::stage_bytes, a_rows + s * Tile::k_bytes,
                       b_rows + s * Tile::k_bytes, row_bytes);
    }
    commit_copies();
  }
  for (int t = 0; t < tiles; ++t) {
    wait_copies<Tile::stages - 2>();
    __syncthreads();
    const int ahead = t + Tile::stages - 1;
    if (ahead < tiles) {
      load_stage<Tile>(base + ahead % Tile::stages * Tile::stage_bytes,
                       a_rows + static_cast<std::size_t>(ahead) * Tile::k_bytes,
                       b_rows + static_cast<std::size_t>(ahead) * Tile::k_bytes, row_bytes);
    }
    commit_copies();
    const unsigned stage = base + t % Tile::stages * Tile::stage_bytes;
#pragma unroll
    for (int kb = 0; kb < Tile::k_bytes; kb += 32) {
      unsigned left[tall][4];
      unsigned right[wide / 2][4];
#pragma unroll
      for (int i = 0; i < tall; ++i) {
        load_matrices(left[i], stage + a_lane + i * 16 * Tile::pitch + kb);
      }
#pragma unroll
      for (int j = 0; j < wide / 2; ++j) {
        load_matrices(right[j], stage + b_lane + j * 16 * Tile::pitch + kb);
      }
#pragma unroll
      for (int i = 0; i < tall; ++i) {
#pragma unroll
        for (int j = 0; j < wide; ++j) {
          multiply_step(sum[i][j], left[i], right[j / 2][j % 2 * 2], right[j / 2][j % 2 * 2 + 1],
                        T{});
        }
      }
    }
  }
  float* out = c +
               (static_cast<std::size_t>(blockIdx.z) * m + blockIdx.y * Tile::bm + warp_row) * n +
               blockIdx.x * Tile::bn + warp_column;
#pragma unroll
  for (int i = 0; i < tall; ++i) {
#pragma unroll
    for (int j = 0; j < wide; ++j) {
      float* place = out + static_cast<std::size_t>(i * 16 + lane / 4) * n + j * 8 + lane % 4 * 2;
      *reinterpret_cast<float2*>(place) = {sum[i][j][0], sum[i][j][1]};
      *reinterpret_cast<float2*>(place + 8 * static_cast<std::size_t>(n)) = {sum[i][j][2],
                                                                             sum[i][j][3]};
    }
  }
}

// ---- without tensor cores: 16 x 16 threads, EDGE x EDGE outputs each ----

template <class T, int EDGE>
__global__ void __launch_bounds__(256)
    fma_product(float* c, const T* a, const T* b, int m, int n, int k) {
  constexpr int tile = 16 * EDGE;
  constexpr int depth = 16;
  constexpr int lanes = 16 / sizeof(T);  // elements of a load
  constexpr int chunks = depth / lanes;
  constexpr int pitch = tile + 4;
  __shared__ __align__(16) float left[depth][pitch];
  __shared__ __align__(16) float right[depth][pitch];
  const T* a_rows = a + (static_cast<std::size_t>(blockIdx.z) * m + blockIdx.y * tile) * k;
  const T* b_rows = b + (static_cast<std::size_t>(blockIdx.z) * n + blockIdx.x * tile) * k;
  const int row = threadIdx.x / 16 * 4;
  const int column = threadIdx.x % 16 * 4;
  float sum[EDGE][EDGE] = {};
  for (int k0 = 0; k0 < k; k0 += depth) {
#pragma unroll
    for (int i = threadIdx.x; i < tile * chunks; i += 256) {
      const int r = i / chunks;
      const int first = i % chunks * lanes;
      const auto x = *reinterpret_cast<const Pack<T, lanes>*>(
          a_rows + static_cast<std::size_t>(r) * k + k0 + first);
      const auto y = *reinterpret_cast<const Pack<T, lanes>*>(
          b_rows + static_cast<std::size_t>(r) * k + k0 + first);
#pragma unroll
      for (int j = 0; j < lanes; ++j) {
        left[first + j][r] = to_float(x.v[j]);
        right[first + j][r] = to_float(y.v[j]);
      }
    }
    __syncthreads();
#pragma unroll
    for (int p = 0; p < depth; ++p) {
      float x[EDGE];
      float y[EDGE];
#pragma unroll
      for (int i = 0; i < EDGE; i += 4) {
        *reinterpret_cast<float4*>(x + i) =
            *reinterpret_cast<const float4*>(&left[p][i * 16 + row]);
        *reinterpret_cast<float4*>(y + i) =
            *reinterpret_cast<const float4*>(&right[p][i * 16 + column]);
      }
#pragma unroll
      for (int i = 0; i < EDGE; ++i) {
#pragma unroll
        for (int j = 0; j < EDGE; ++j) sum[i][j] = fmaf(x[i], y[j], sum[i][j]);
      }
    }
    __syncthreads();
  }
  float* out =
      c + (static_cast<std::size_t>(blockIdx.z) * m + blockIdx.y * tile) * n + blockIdx.x * tile;
#pragma unroll
  for (int i = 0; i < EDGE; ++i) {
#pragma unroll
    for (int j = 0; j < EDGE; j += 4) {
      const int r = i / 4 * 64 + row + i % 4;
      *reinterpret_cast<float4*>(out + static_cast<std::size_t>(r) * n + j * 16 + column) = {
          sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]};
    }
  }
}

// ---- operands, the host's reference, and cases ----

template <class T>
struct Operands {
  T* a;
  T* b;
  float* c;
};

template <class T>
Operands<T> take_operands(Pool& pool, const Product& size) {
  return {pool.random<T>(static_cast<std::size_t>(size.batch) * size.m * size.k),
          pool.random<T>(static_cast<std::size_t>(size.batch) * size.n * size.k),
          pool.take<float>(static_cast<std::size_t>(size.batch) * size.m * size.n)};
}

inline double host_value(float x) {
  return x;
}
inline double host_value(__half x) {
  return __half2float(x);
}
inline double host_value(__nv_bfloat16 x) {
  return __bfloat162float(x);
}

// The worst of 64 places against sums in double, by the measure of Output.
template <class T>
double product_error(const Operands<T>& operands, const Product& size) {
  constexpr int places = 64;
  std::vector<T> x(size.k);
  std::vector<T> y(size.k);
  double worst = 0;
  const double rms = std::sqrt(size.k) / 3;  // of a sum of products of uniform values
  for (int i = 0; i < places; ++i) {
    const std::size_t z = i * 7919u % size.batch;
    const std::size_t row = z * size.m + i * 104729u % size.m;
    const std::size_t column = i * 15485863u % size.n;
    REQUIRE(cudaMemcpy(x.data(), operands.a + row * size.k, size.k * sizeof(T),
                       cudaMemcpyDeviceToHost));
    REQUIRE(cudaMemcpy(y.data(), operands.b + (z * size.n + column) * size.k, size.k * sizeof(T),
                       cudaMemcpyDeviceToHost));
    float value = 0;
    REQUIRE(cudaMemcpy(&value, operands.c + row * size.n + column, sizeof(value),
                       cudaMemcpyDeviceToHost));
    double sum = 0;
    for (int p = 0; p < size.k; ++p) sum += host_value(x[p]) * host_value(y[p]);
    const double error = std::fabs(value - sum) / (std::fabs(sum) + rms);
    if (!(error <= worst)) worst = error;
  }
  return worst;
}

// TF32 keeps 10 bits of each operand.
template <class T>
constexpr double product_tolerance() {
  return sizeof(T) == 4 ? 4e-3 : 1e-3;
}

template <class T>
Work product_work(const Operands<T>& operands, const Product& size, std::function<void()> unit) {
  const std::size_t count = static_cast<std::size_t>(size.batch) * size.m * size.n;
  return {std::move(unit), output(operands.c, count, product_tolerance<T>()),
          [=] { return product_error(operands, size); }};
}

template <class T, class Tile>
Prepare mma_case(Product size) {
  return [size](Pool& pool) -> Work {
    const Operands<T> o = take_operands<T>(pool, size);
    allow_shared(mma_product<T, Tile>, Tile::shared_bytes);
    const dim3 grid(size.n / Tile::bn, size.m / Tile::bm, size.batch);
    return product_work<T>(o, size, [=] {
      mma_product<T, Tile>
          <<<grid, Tile::threads, Tile::shared_bytes>>>(o.c, o.a, o.b, size.m, size.n, size.k);
    });
  };
}

template <class T, int EDGE>
Prepare fma_case(Product size) {
  return [size](Pool& pool) -> Work {
    const Operands<T> o = take_operands<T>(pool, size);
    const dim3 grid(size.n / (16 * EDGE), size.m / (16 * EDGE), size.batch);
    return product_work<T>(o, size, [=] {
      fma_product<T, EDGE><<<grid, 256>>>(o.c, o.a, o.b, size.m, size.n, size.k);
    });
  };
}

}  // namespace defects
