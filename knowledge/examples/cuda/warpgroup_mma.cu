// kp:compiler nvcc
// kp:options -O3 -std=c++17
// C = A B^T, A of m x k and B of n x k in bf16, sums in f32, on Hopper's tensor cores. One warp group brings tiles by
// TMA, swizzled as wgmma reads them; two compute 64 rows each. A ring of stages lies between them: `full` counts
// the bytes that arrived, `empty` the groups that are done. Rows that TMA cannot take go by another kernel.
#include <cuda.h>
#include <cuda_bf16.h>

#include <cstdint>

#include "kernelpro/candidate.h"

namespace {

constexpr int BM = 128, BN = 128, BK = 64;  // 64 of bf16: rows of 128 bytes, the widest swizzle
// kp:tune STAGES = 3 4 5 6
constexpr int STAGES = 4;
constexpr uint32_t A_BYTES = BM * BK * 2, B_BYTES = BN * BK * 2, STAGE_BYTES = A_BYTES + B_BYTES;
constexpr uint32_t SHARED_BYTES = STAGES * STAGE_BYTES + 1024;  // tiles begin at multiples of 1024
constexpr int THREADS = 384;

__device__ uint32_t shared_address(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }

__device__ void wait(uint32_t barrier, uint32_t parity) {
  uint32_t done = 0;
  while (done == 0) {
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done) : "r"(barrier), "r"(parity) : "memory");
  }
}

__device__ void load_tile(uint32_t to, const CUtensorMap& map, int column, int row, uint32_t barrier) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
               :: "r"(to), "l"(&map), "r"(column), "r"(row), "r"(barrier) : "memory");
}

// A tile whose rows have 128 bytes, swizzled: groups of eight rows are 1024 bytes apart.
__device__ uint64_t descriptor(uint32_t address) {
  return (address & 0x3FFFF) >> 4 | uint64_t{1} << 16 | uint64_t{1024 >> 4} << 32 | uint64_t{1} << 62;
}

#define EIGHT(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), \
                 "+f"(d[i + 6]), "+f"(d[i + 7])
__device__ void multiply(float (&d)[64], uint64_t a, uint64_t b) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, "
      "%22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, "
      "%42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, "
      "%62, %63}, %64, %65, 1, 1, 1, 0, 0;"
      : EIGHT(0), EIGHT(8), EIGHT(16), EIGHT(24), EIGHT(32), EIGHT(40), EIGHT(48), EIGHT(56)
      : "l"(a), "l"(b));
}

__device__ void produce(const CUtensorMap& a, const CUtensorMap& b, int steps, uint32_t tiles, uint32_t full,
                        uint32_t empty) {
  for (int step = 0; step < steps; ++step) {
    const int s = step % STAGES;
    wait(empty + 8 * s, (step / STAGES + 1) % 2);  // the first use of a stage waits for nobody
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(full + 8 * s), "r"(STAGE_BYTES)
                 : "memory");
    load_tile(tiles + s * STAGE_BYTES, a, step * BK, blockIdx.y * BM, full + 8 * s);
    load_tile(tiles + s * STAGE_BYTES + A_BYTES, b, step * BK, blockIdx.x * BN, full + 8 * s);
  }
}

__device__ void consume(float (&sums)[64], int group, int steps, uint32_t tiles, uint32_t full, uint32_t empty) {
  for (int step = 0; step < steps; ++step) {
    const int s = step % STAGES;
    wait(full + 8 * s, step / STAGES % 2);
    const uint64_t a = descriptor(tiles + s * STAGE_BYTES + group * 64 * 128);
    const uint64_t b = descriptor(tiles + s * STAGE_BYTES + A_BYTES);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    for (int k = 0; k < BK / 16; ++k) {
      multiply(sums, a + 2 * k, b + 2 * k);  // 16 elements are 32 bytes, counted in 16
    }
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");  // the step before has read its stage
    if (step > 0 && threadIdx.x % 128 == 0) {
      asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(empty + 8 * ((step - 1) % STAGES)) : "memory");
    }
  }
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
}

__global__ void __launch_bounds__(THREADS, 1)
    product(int m, int n, int k, const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
            float* __restrict__ C) {
  extern __shared__ unsigned char memory[];
  __shared__ alignas(8) uint64_t barriers[2 * STAGES];
  const uint32_t tiles = (shared_address(memory) + 1023) & ~1023U;
  const uint32_t full = shared_address(barriers), empty = full + 8 * STAGES;
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; ++s) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(full + 8 * s) : "memory");
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 2;" :: "r"(empty + 8 * s) : "memory");  // two groups compute
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  __syncthreads();
  const int steps = (k + BK - 1) / BK;
  if (threadIdx.x < 128) {  // each role is one branch, or setmaxnreg is ignored
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x == 0) produce(a, b, steps, tiles, full, empty);
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    const int group = threadIdx.x / 128 - 1, warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32;
    float sums[64] = {};
    consume(sums, group, steps, tiles, full, empty);
    const int row = blockIdx.y * BM + group * 64 + warp * 16 + lane / 4;
    for (int i = 0; i < 64; ++i) {  // registers 4 j to 4 j + 3: columns 8 j + 2 (lane % 4) and the next, rows 0 and 8
      const int r = row + i / 2 % 2 * 8;
      const int c = blockIdx.x * BN + i / 4 * 8 + lane % 4 * 2 + i % 2;
      if (r < m && c < n) C[static_cast<int64_t>(r) * n + c] = sums[i];
    }
  }
}

__global__ void plain(int64_t m, int64_t n, int64_t k, const __nv_bfloat16* A, const __nv_bfloat16* B, float* C) {
  const int64_t j = blockIdx.x * int64_t{16} + threadIdx.x, i = blockIdx.y * int64_t{16} + threadIdx.y;
  float sum = 0;
  for (int64_t p = 0; i < m && j < n && p < k; ++p) {
    sum += __bfloat162float(A[i * k + p]) * __bfloat162float(B[j * k + p]);
  }
  if (i < m && j < n) C[i * n + j] = sum;
}

// Tiles of `rows` x BK; what lies beyond the edge arrives as zeros.
bool make_map(CUtensorMap* map, void* data, int64_t height, int64_t k, uint32_t rows) {
  void* encode = nullptr;  // a driver's function, which is not linked
  cudaDriverEntryPointQueryResult found;
  if (cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &encode, 12000, cudaEnableDefault, &found) !=
      cudaSuccess || encode == nullptr) {
    return false;
  }
  const cuuint64_t extents[2] = {static_cast<cuuint64_t>(k), static_cast<cuuint64_t>(height)};
  const cuuint64_t pitch[1] = {static_cast<cuuint64_t>(k) * 2};
  const cuuint32_t box[2] = {BK, rows}, steps[2] = {1, 1};
  return reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(encode)(
             map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, data, extents, pitch, box, steps,
             CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
             CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
}

}  // namespace

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  const int64_t m = context->axes[0], n = context->axes[1], k = context->axes[2];
  if (count != 3 || m == 0 || n == 0) return count != 3;
  const auto stream = static_cast<cudaStream_t>(context->stream);
  auto* C = static_cast<float*>(tensors[2].data);
  CUtensorMap a, b;
  if (k % 8 != 0 || k == 0) {  // a pitch that is no multiple of 16 bytes
    const dim3 blocks(static_cast<unsigned>((n + 15) / 16), static_cast<unsigned>((m + 15) / 16));
    plain<<<blocks, dim3(16, 16), 0, stream>>>(m, n, k, static_cast<const __nv_bfloat16*>(tensors[0].data),
                                               static_cast<const __nv_bfloat16*>(tensors[1].data), C);
    return cudaGetLastError() != cudaSuccess;
  }
  if (!make_map(&a, tensors[0].data, m, k, BM) || !make_map(&b, tensors[1].data, n, k, BN) ||
      cudaFuncSetAttribute(product, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_BYTES) != cudaSuccess) {
    return 2;
  }
  const dim3 blocks(static_cast<unsigned>((n + BN - 1) / BN), static_cast<unsigned>((m + BM - 1) / BM));
  product<<<blocks, THREADS, SHARED_BYTES, stream>>>(static_cast<int>(m), static_cast<int>(n), static_cast<int>(k), a,
                                                     b, C);
  return cudaGetLastError() != cudaSuccess;
}
