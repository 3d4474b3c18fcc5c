// Matrix products C = A · Bᵀ by wgmma (HGMMA), operands as in gemm.cuh: TMA brings tiles of 128
// bytes of k with the 128-byte swizzle, a producer warp fills a ring of stages, two warpgroups
// multiply.
#pragma once

#include "gemm.cuh"

namespace defects {

constexpr int kWgmmaRows = 128;    // of a tile of A: 64 for each warpgroup
constexpr int kWgmmaKBytes = 128;  // the width of the swizzle
constexpr int kWgmmaThreads = 384;

// ---- barriers in shared memory ----

__device__ __forceinline__ void barrier_init(unsigned barrier, unsigned count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
}

__device__ __forceinline__ void barrier_expect(unsigned barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}

__device__ __forceinline__ void barrier_arrive(unsigned barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

__device__ __forceinline__ void barrier_wait(unsigned barrier, unsigned parity) {
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@done bra finished;\n"
      "bra again;\n"
      "finished:\n"
      "}" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

__device__ __forceinline__ void load_tile(unsigned to, const CUtensorMap& map, unsigned barrier,
                                          int k, int row) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
      " [%0], [%1, {%3, %4}], [%2];" ::"r"(to),
      "l"(&map), "r"(barrier), "r"(k), "r"(row)
      : "memory");
}

// ---- wgmma ----

// Rows of 128 bytes, swizzled; groups of eight rows are 1024 bytes apart.
__device__ __forceinline__ std::uint64_t operand(unsigned address) {
  constexpr std::uint64_t leading = 1;
  constexpr std::uint64_t stride = 1024 >> 4;
  constexpr std::uint64_t swizzle128 = 1;
  return (static_cast<std::uint64_t>(address) & 0x3ffff) >> 4 | leading << 16 | stride << 32 |
         swizzle128 << 62;
}

// d += 64 rows of A times 128 rows of B, 32 bytes of k.
#define DEFECTS_WGMMA(IN_OUT, SHAPE, TAIL)                                                        \
  asm volatile(                                                                                   \
      "wgmma.mma_async.sync.aligned.m64n128" SHAPE                                                \
      " {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,"  \
      "%24,%25,%26,%27,%28,%29,%30,%31,%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,"  \
      "%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63}, %64, %65,"       \
      " " TAIL ";"                                                                                \
      : IN_OUT(d[0]), IN_OUT(d[1]), IN_OUT(d[2]), IN_OUT(d[3]), IN_OUT(d[4]), IN_OUT(d[5]),       \
        IN_OUT(d[6]), IN_OUT(d[7]), IN_OUT(d[8]), IN_OUT(d[9]), IN_OUT(d[10]), IN_OUT(d[11]),     \
        IN_OUT(d[12]), IN_OUT(d[13]), IN_OUT(d[14]), IN_OUT(d[15]), IN_OUT(d[16]), IN_OUT(d[17]), \
        IN_OUT(d[18]), IN_OUT(d[19]), IN_OUT(d[20]), IN_OUT(d[21]), IN_OUT(d[22]), IN_OUT(d[23]), \
        IN_OUT(d[24]), IN_OUT(d[25]), IN_OUT(d[26]), IN_OUT(d[27]), IN_OUT(d[28]), IN_OUT(d[29]), \
        IN_OUT(d[30]), IN_OUT(d[31]), IN_OUT(d[32]), IN_OUT(d[33]), IN_OUT(d[34]), IN_OUT(d[35]), \
        IN_OUT(d[36]), IN_OUT(d[37]), IN_OUT(d[38]), IN_OUT(d[39]), IN_OUT(d[40]), IN_OUT(d[41]), \
        IN_OUT(d[42]), IN_OUT(d[43]), IN_OUT(d[44]), IN_OUT(d[45]), IN_OUT(d[46]), IN_OUT(d[47]), \
        IN_OUT(d[48]), IN_OUT(d[49]), IN_OUT(d[50]), IN_OUT(d[51]), IN_OUT(d[52]), IN_OUT(d[53]), \
        IN_OUT(d[54]), IN_OUT(d[55]), IN_OUT(d[56]), IN_OUT(d[57]), IN_OUT(d[58]), IN_OUT(d[59]), \
        IN_OUT(d[60]), IN_OUT(d[61]), IN_OUT(d[62]), IN_OUT(d[63])                                \
      : "l"(a), "l"(b))

__device__ __forceinline__ void wgmma_step(float (&d)[64], std::uint64_t a, std::uint64_t b,
                                           __half /*type*/) {
  DEFECTS_WGMMA("+f", "k16.f32.f16.f16", "1, 1, 1, 0, 0");
}

__device__ __forceinline__ void wgmma_step(float (&d)[64], std::uint64_t a, std::uint64_t b,
                                           __nv_bfloat16 /*type*/) {
  DEFECTS_WGMMA("+f", "k16.f32.bf16.bf16", "1, 1, 1, 0, 0");
}

__device__ __forceinline__ void wgmma_step(float (&d)[64], std::uint64_t a, std::uint64_t b,
                                           float /*type*/) {
  DEFECTS_WGMMA("+f", "k8.f32.tf32.tf32", "1, 1, 1");
}

__device__ __forceinline__ void wgmma_step(int (&d)[64], std::uint64_t a, std::uint64_t b,
                                           std::int8_t /*type*/) {
  DEFECTS_WGMMA("+r", "k32.s32.s8.s8", "1");
}

#undef DEFECTS_WGMMA

// Sums that ptxas sets to zero among the steps, as it does where there are many, serialize them.
__device__ __forceinline__ void keep_before_steps(float& sum) {
  asm volatile("" : "+f"(sum)::"memory");
}
__device__ __forceinline__ void keep_before_steps(int& sum) {
  asm volatile("" : "+r"(sum)::"memory");
}

template <int LEFT>
__device__ __forceinline__ void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(LEFT) : "memory");
}

// ---- the kernel ----

template <int COLUMNS, int STAGES>
struct WgmmaTile {
  static constexpr int columns = COLUMNS;
  static constexpr int parts = COLUMNS / 128;  // a step takes 128 columns
  static constexpr int stages = STAGES;
  static constexpr int a_bytes = kWgmmaRows * kWgmmaKBytes;
  static constexpr int stage_bytes = a_bytes + COLUMNS * kWgmmaKBytes;
  static constexpr int shared_bytes =
      STAGES * stage_bytes + 1024;  // to begin at a multiple of 1024
};

using Wgmma256 = WgmmaTile<256, 4>;
using Wgmma128 = WgmmaTile<128, 4>;

// Where a block's tile is, in tiles: as the grid has it.
struct PlaceInGrid {
  __device__ static int y() { return blockIdx.y; }
  __device__ static int x() { return blockIdx.x; }
};

template <class T, class Tile, class Place>
__device__ __forceinline__ void produce(const CUtensorMap& a, const CUtensorMap& b, unsigned base,
                                        unsigned full, unsigned empty, int tiles, int m, int n) {
  constexpr int k_elements = kWgmmaKBytes / sizeof(T);
  const int row = blockIdx.z * m + Place::y() * kWgmmaRows;
  const int column = blockIdx.z * n + Place::x() * Tile::columns;
  for (int t = 0; t < tiles; ++t) {
    const int s = t % Tile::stages;
    const unsigned turn = t / Tile::stages % 2;
    barrier_wait(empty + s * 8, turn ^ 1);
    barrier_expect(full + s * 8, Tile::stage_bytes);
    const unsigned stage = base + s * Tile::stage_bytes;
    load_tile(stage, a, full + s * 8, t * k_elements, row);
    load_tile(stage + Tile::a_bytes, b, full + s * 8, t * k_elements, column);
  }
}

// Computes the block's tile of the product. False for threads of the producer, which hold no sums.
template <class T, class Tile, class Place = PlaceInGrid, class Sum>
__device__ __forceinline__ bool wgmma_tile(Sum (&sum)[Tile::parts][64], const CUtensorMap& a,
                                           const CUtensorMap& b, int m, int n, int tiles) {
// nvcc -arch=sm_90a also makes code for plain 9.0, which has no wgmma.
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ unsigned char memory[];
  __shared__ __align__(8) std::uint64_t barriers[2 * Tile::stages];
  const unsigned base = (shared_address(memory) + 1023) / 1024 * 1024;
  const unsigned full = shared_address(barriers);
  const unsigned empty = full + Tile::stages * 8;
  if (threadIdx.x == 0) {
    for (int s = 0; s < Tile::stages; ++s) {
      barrier_init(full + s * 8, 1);
      barrier_init(empty + s * 8, 8);  // warps that multiply
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  __syncthreads();
  const int group = threadIdx.x / 128;
  if (group == 2) {
    if (threadIdx.x == 256) produce<T, Tile, Place>(a, b, base, full, empty, tiles, m, n);
    return false;
  }

  constexpr int parts = Tile::parts;
#pragma unroll
  for (int p = 0; p < parts; ++p) {
#pragma unroll
    for (int i = 0; i < 64; ++i) {
      sum[p][i] = 0;
      if constexpr (parts > 1) keep_before_steps(sum[p][i]);
    }
  }
  for (int t = 0; t < tiles; ++t) {
    const int s = t % Tile::stages;
    barrier_wait(full + s * 8, t / Tile::stages % 2);
    const unsigned stage = base + s * Tile::stage_bytes;
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int kb = 0; kb < kWgmmaKBytes; kb += 32) {
      const std::uint64_t left = operand(stage + group * 64 * kWgmmaKBytes + kb);
#pragma unroll
      for (int p = 0; p < parts; ++p) {
        const std::uint64_t right = operand(stage + Tile::a_bytes + p * 128 * kWgmmaKBytes + kb);
        wgmma_step(sum[p], left, right, T{});
      }
    }
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    // The group before has ended: its stage is free.
    wgmma_wait<1>();
    if (t > 0 && threadIdx.x % 32 == 0) barrier_arrive(empty + (t - 1) % Tile::stages * 8);
  }
  wgmma_wait<0>();
  return true;
#else
  return false;
#endif
}

template <class T, class Tile>
__global__ void __launch_bounds__(kWgmmaThreads, 1)
    wgmma_product(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                  float* c, int m, int n, int tiles) {
  float sum[Tile::parts][64];
  if (!wgmma_tile<T, Tile>(sum, a, b, m, n, tiles)) return;
  const int lane = threadIdx.x % 32;
  const int row =
      blockIdx.y * kWgmmaRows + threadIdx.x / 128 * 64 + threadIdx.x % 128 / 32 * 16 + lane / 4;
  float* out = c + (static_cast<std::size_t>(blockIdx.z) * m + row) * n +
               blockIdx.x * Tile::columns + lane % 4 * 2;
#pragma unroll
  for (int p = 0; p < Tile::parts; ++p) {
#pragma unroll
    for (int j = 0; j < 16; ++j) {
      float* place = out + p * 128 + j * 8;
      *reinterpret_cast<float2*>(place) = {sum[p][j * 4], sum[p][j * 4 + 1]};
      *reinterpret_cast<float2*>(place + 8 * static_cast<std::size_t>(n)) = {sum[p][j * 4 + 2],
                                                                             sum[p][j * 4 + 3]};
    }
  }
}

// ---- cases ----

// A matrix of `rows` rows of k elements, taken in boxes of `box_rows` rows and 128 bytes.
template <class T>
CUtensorMap tensor_map(T* data, std::uint64_t rows, std::uint64_t k, std::uint32_t box_rows) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult status{};
  REQUIRE(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000,
                                           cudaEnableDefault, &status));
  REQUIRE(status == cudaDriverEntryPointSuccess ? cudaSuccess : cudaErrorNotSupported);
  const auto encode = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(found);
  constexpr CUtensorMapDataType type =
      ElementOf<T>::value == Element::u8     ? CU_TENSOR_MAP_DATA_TYPE_UINT8
      : ElementOf<T>::value == Element::f16  ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16
      : ElementOf<T>::value == Element::bf16 ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16
                                             : CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
  const cuuint64_t sizes[2] = {k, rows};
  const cuuint64_t strides[1] = {k * sizeof(T)};
  const cuuint32_t box[2] = {static_cast<cuuint32_t>(kWgmmaKBytes / sizeof(T)), box_rows};
  const cuuint32_t steps[2] = {1, 1};
  CUtensorMap map;
  const CUresult result =
      encode(&map, type, 2, data, sizes, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
             CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
             CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  REQUIRE(result == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue);
  return map;
}

template <class T, class Tile>
Prepare wgmma_case(Product size) {
  return [size](Pool& pool) -> Work {
    const Operands<T> o = take_operands<T>(pool, size);
    allow_shared(wgmma_product<T, Tile>, Tile::shared_bytes);
    const CUtensorMap a =
        tensor_map(o.a, static_cast<std::uint64_t>(size.batch) * size.m, size.k, kWgmmaRows);
    const CUtensorMap b =
        tensor_map(o.b, static_cast<std::uint64_t>(size.batch) * size.n, size.k, Tile::columns);
    const dim3 grid(size.n / Tile::columns, size.m / kWgmmaRows, size.batch);
    const int tiles = size.k * static_cast<int>(sizeof(T)) / kWgmmaKBytes;
    return product_work<T>(o, size, [=] {
      wgmma_product<T, Tile>
          <<<grid, kWgmmaThreads, Tile::shared_bytes>>>(a, b, o.c, size.m, size.n, tiles);
    });
  };
}

}  // namespace defects
