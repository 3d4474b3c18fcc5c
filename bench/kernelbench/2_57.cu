// kp:compiler nvcc
// kp:options -O3 -std=c++17
// 3x3 convolution 8 -> 64 channels as an implicit GEMM on tensor cores, bias, ReLU and HardSwish fused.
// f32 accuracy: every operand is scaled by a power of two and split into two f16 numbers, v = hi + lo with a rest
// below 2^-22 |v|; hi*hi + hi*lo + lo*hi are accumulated in f32. The scale follows the maximum of the tile (of the
// weights), so that any magnitude works.
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <stdint.h>

#include "kernelpro/candidate.h"

namespace {

constexpr int IMAGES = 128, IC = 8, H = 128, W = 128, OC = 64, OH = 126, OW = 126;
constexpr int THREADS = 256, WARPS = THREADS / 32;
constexpr int TILE_ROWS = 2, IN_ROWS = TILE_ROWS + 2;
constexpr int TILES_PER_IMAGE = OH / TILE_ROWS;  // 63
constexpr int TILES = IMAGES * TILES_PER_IMAGE;
constexpr int PIXELS = IN_ROWS * W;              // 512
constexpr int PITCH = 264;                       // floats of a staged channel: 252, = 8 mod 32 against bank conflicts
static_assert(OH % TILE_ROWS == 0 && (TILE_ROWS * OW * 4) % 16 == 0 && (OH * OW * 4) % 16 == 0, "");

// Shared memory: raw input [IC][PIXELS], pixels as 8 f16 (hi, then lo), staged output [OC][PITCH], maxima.
constexpr uint32_t RAW = 0;
constexpr uint32_t ACT = RAW + IC * PIXELS * 4;
constexpr uint32_t LO = (PIXELS + 8) * 16;       // from hi to lo; 8 pixels that columns 126, 127 may look into
constexpr uint32_t STAGE = ACT + 2 * LO;
constexpr uint32_t MAXIMA = STAGE + OC * PITCH * 4;
constexpr uint32_t SMEM_BYTES = MAXIMA + WARPS * 4;

// ---- helpers
__device__ __forceinline__ uint32_t smem_u32(const void* p) { return uint32_t(__cvta_generic_to_shared(p)); }
__device__ __forceinline__ void cp_async16(void* s, const void* g) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(smem_u32(s)), "l"(g) : "memory");
}
__device__ __forceinline__ void cp_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N>
__device__ __forceinline__ void cp_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}
__device__ __forceinline__ void fence_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
__device__ __forceinline__ void bulk_store(void* g, const void* s, uint32_t bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(g), "r"(smem_u32(s)), "r"(bytes)
               : "memory");
}
__device__ __forceinline__ void bulk_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
__device__ __forceinline__ void bulk_wait_read() { asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); }
__device__ __forceinline__ void bulk_wait_all() { asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); }
__device__ __forceinline__ uint32_t warp_max(uint32_t v) { return __reduce_max_sync(0xffffffffu, v); }
__device__ __forceinline__ void ldsm4(uint32_t (&r)[4], uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address)
               : "memory");
}
__device__ __forceinline__ void mma16816(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ __forceinline__ void mma1688(float (&c)[4], const uint32_t (&a)[2], uint32_t b0) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(b0));
}
// Two scaled numbers as f16 pairs hi and lo, a in the lower half.
__device__ __forceinline__ void split2(float a, float b, uint32_t& hi, uint32_t& lo) {
  const __half2 h = __floats2half2_rn(a, b);
  const float2 f = __half22float2(h);
  const __half2 l = __floats2half2_rn(a - f.x, b - f.y);
  hi = *reinterpret_cast<const uint32_t*>(&h);
  lo = *reinterpret_cast<const uint32_t*>(&l);
}
// ---- end helpers

// Exponent field of the power of two that brings a maximum (bits of |v|) into [2^13, 2^14); its inverse has
// 254 minus it.
__device__ __forceinline__ uint32_t scale_field(uint32_t max_bits) {
  const uint32_t f = 267u - (max_bits >> 23);
  return f < 253u ? f : 253u;
}
__device__ __forceinline__ float power(uint32_t field) { return __uint_as_float(field << 23); }
__device__ __forceinline__ uint32_t abs_bits(float v) { return __float_as_uint(v) & 0x7fffffffu; }
__device__ __forceinline__ uint32_t umax(uint32_t a, uint32_t b) { return a > b ? a : b; }

__device__ __forceinline__ float activate(float v) {
  v = fmaxf(v, 0.0f);
  return v * fminf((v + 3.0f) * (1.0f / 6.0f), 1.0f);
}

__device__ __forceinline__ void load_tile(const float* __restrict__ x, float* raw, int tile) {
  const int image = tile / TILES_PER_IMAGE, y = (tile % TILES_PER_IMAGE) * TILE_ROWS;
  // A channel's IN_ROWS rows are contiguous.
  const float* src = x + (int64_t(image) * IC * H + y) * W;
#pragma unroll
  for (int i = 0; i < IC * PIXELS / 4 / THREADS; ++i) {
    const int piece = threadIdx.x + i * THREADS;
    const int channel = piece / (PIXELS / 4), offset = piece % (PIXELS / 4);
    cp_async16(raw + piece * 4, src + int64_t(channel) * H * W + offset * 4);
  }
}

__global__ void __launch_bounds__(THREADS, 2)
conv_hardswish(const float* __restrict__ x, const float* __restrict__ weight, const float* __restrict__ bias,
               float* __restrict__ out) {
  extern __shared__ __align__(128) unsigned char smem[];
  float* raw = reinterpret_cast<float*>(smem + RAW);
  float* stage = reinterpret_cast<float*>(smem + STAGE);
  uint32_t* maxima = reinterpret_cast<uint32_t*>(smem + MAXIMA);
  const int t = threadIdx.x, lane = t & 31, warp = t >> 5;
  const int g = lane >> 2, q = lane & 3;

  int tile = blockIdx.x;
  if (tile < TILES) load_tile(x, raw, tile);
  cp_commit();

  // The scale of the weights.
  uint32_t m = 0;
  for (int i = t; i < OC * IC * 9; i += THREADS) m = umax(m, abs_bits(weight[i]));
  m = warp_max(m);
  if (lane == 0) maxima[warp] = m;
  __syncthreads();
  m = 0;
#pragma unroll
  for (int i = 0; i < WARPS; ++i) m = umax(m, maxima[i]);
  __syncthreads();
  const uint32_t weight_field = scale_field(m);
  const float weight_scale = power(weight_field), weight_inverse = power(254u - weight_field);

  // This warp: 32 channels (two m16 tiles), one of the two rows, 64 columns. Weights as A fragments; a k16 step is
  // two taps of 8 channels: (0,0)(0,1), (1,0)(1,1), (2,0)(2,1), (0,2)(1,2); the last tap (2,2) is a k8 step.
  const int oc0 = (warp >> 2) * 32, row = warp & 1, col0 = ((warp >> 1) & 1) * 64;
  uint32_t wh[2][4][4], wl[2][4][4], sh[2][2], sl[2][2];
  float shift[2][2];
#pragma unroll
  for (int mt = 0; mt < 2; ++mt) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int oc = oc0 + mt * 16 + half * 8 + g;
      shift[mt][half] = bias[oc];
      const float* wp = weight + oc * (IC * 9) + q * 2 * 9;
#pragma unroll
      for (int k = 0; k < 4; ++k) {
#pragma unroll
        for (int j = 0; j < 2; ++j) {
          const int tap = k < 3 ? k * 3 + j : j * 3 + 2;
          split2(wp[tap] * weight_scale, wp[9 + tap] * weight_scale, wh[mt][k][j * 2 + half], wl[mt][k][j * 2 + half]);
        }
      }
      split2(wp[8] * weight_scale, wp[9 + 8] * weight_scale, sh[mt][half], sl[mt][half]);
    }
  }

  // ldmatrix: lanes 8 mi .. 8 mi + 7 give the pixels of matrix mi; matrices 0,1 belong to the first n8 tile, 2,3 to
  // the second; the odd one is the second tap of the pair (or the lo part for the single tap).
  const int mi = lane >> 3;
  const uint32_t pixel = uint32_t(row * W + col0 + (mi >> 1) * 8 + (lane & 7));
  const uint32_t act = smem_u32(smem + ACT);
  const uint32_t pair_x = act + (pixel + (mi & 1)) * 16;
  const uint32_t pair_y = act + (pixel + 2 + (mi & 1) * W) * 16;
  const uint32_t single = act + (pixel + 2 * W + 2) * 16 + (mi & 1) * LO;

  for (; tile < TILES; tile += gridDim.x) {
    cp_wait<0>();
    // Maximum over what this thread has copied itself; the barrier makes all of it visible to everybody.
    m = 0;
#pragma unroll
    for (int i = 0; i < IC * PIXELS / 4 / THREADS; ++i) {
      const float4 v = *reinterpret_cast<const float4*>(raw + (t + i * THREADS) * 4);
      m = umax(m, umax(umax(abs_bits(v.x), abs_bits(v.y)), umax(abs_bits(v.z), abs_bits(v.w))));
    }
    m = warp_max(m);
    if (lane == 0) maxima[warp] = m;
    __syncthreads();  // raw and maxima are there; the products of the last tile are done with the pixels
    m = 0;
#pragma unroll
    for (int i = 0; i < WARPS; ++i) m = umax(m, maxima[i]);
    const uint32_t field = scale_field(m);
    const float scale = power(field), inverse = power(254u - field) * weight_inverse;
#pragma unroll
    for (int i = 0; i < PIXELS / THREADS; ++i) {
      const int p = t + i * THREADS;
      float v[IC];
#pragma unroll
      for (int c = 0; c < IC; ++c) v[c] = raw[c * PIXELS + p] * scale;
      uint4 hi, lo;
      split2(v[0], v[1], hi.x, lo.x);
      split2(v[2], v[3], hi.y, lo.y);
      split2(v[4], v[5], hi.z, lo.z);
      split2(v[6], v[7], hi.w, lo.w);
      *reinterpret_cast<uint4*>(smem + ACT + p * 16) = hi;
      *reinterpret_cast<uint4*>(smem + ACT + LO + p * 16) = lo;
    }
    if (warp == 0) bulk_wait_read();  // the last tile has left the stage
    __syncthreads();                  // pixels are there, raw and stage are free
    if (tile + int(gridDim.x) < TILES) load_tile(x, raw, tile + gridDim.x);
    cp_commit();

#pragma unroll 1
    for (int jp = 0; jp < 4; ++jp) {  // 16 columns
      float acc[2][2][4];
#pragma unroll
      for (int mt = 0; mt < 2; ++mt)
#pragma unroll
        for (int j = 0; j < 2; ++j)
#pragma unroll
          for (int i = 0; i < 4; ++i) acc[mt][j][i] = 0.0f;
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const uint32_t address = (k < 3 ? pair_x + k * (W * 16) : pair_y) + jp * 256;
        uint32_t bh[4], bl[4];
        ldsm4(bl, address + LO);
        ldsm4(bh, address);
#pragma unroll
        for (int mt = 0; mt < 2; ++mt)
#pragma unroll
          for (int j = 0; j < 2; ++j) mma16816(acc[mt][j], wh[mt][k], bl[2 * j], bl[2 * j + 1]);
#pragma unroll
        for (int mt = 0; mt < 2; ++mt)
#pragma unroll
          for (int j = 0; j < 2; ++j) mma16816(acc[mt][j], wl[mt][k], bh[2 * j], bh[2 * j + 1]);
#pragma unroll
        for (int mt = 0; mt < 2; ++mt)
#pragma unroll
          for (int j = 0; j < 2; ++j) mma16816(acc[mt][j], wh[mt][k], bh[2 * j], bh[2 * j + 1]);
      }
      {
        uint32_t b[4];  // hi, lo of the first n8 tile, hi, lo of the second
        ldsm4(b, single + jp * 256);
#pragma unroll
        for (int mt = 0; mt < 2; ++mt)
#pragma unroll
          for (int j = 0; j < 2; ++j) mma1688(acc[mt][j], sh[mt], b[2 * j + 1]);
#pragma unroll
        for (int mt = 0; mt < 2; ++mt)
#pragma unroll
          for (int j = 0; j < 2; ++j) mma1688(acc[mt][j], sl[mt], b[2 * j]);
#pragma unroll
        for (int mt = 0; mt < 2; ++mt)
#pragma unroll
          for (int j = 0; j < 2; ++j) mma1688(acc[mt][j], sh[mt], b[2 * j]);
      }
#pragma unroll
      for (int mt = 0; mt < 2; ++mt)
#pragma unroll
        for (int j = 0; j < 2; ++j) {
          const int col = col0 + jp * 16 + j * 8 + q * 2;
          if (col < OW) {
            float* s = stage + (oc0 + mt * 16 + g) * PITCH + row * OW + col;
            *reinterpret_cast<float2*>(s) = make_float2(activate(fmaf(acc[mt][j][0], inverse, shift[mt][0])),
                                                        activate(fmaf(acc[mt][j][1], inverse, shift[mt][0])));
            *reinterpret_cast<float2*>(s + 8 * PITCH) =
                make_float2(activate(fmaf(acc[mt][j][2], inverse, shift[mt][1])),
                            activate(fmaf(acc[mt][j][3], inverse, shift[mt][1])));
          }
        }
    }
    fence_async();    // what was staged is for the copy engine
    __syncthreads();
    if (warp == 0) {  // two rows of a channel are contiguous: 1008 bytes
      const int image = tile / TILES_PER_IMAGE, y = (tile % TILES_PER_IMAGE) * TILE_ROWS;
#pragma unroll
      for (int i = 0; i < OC / 32; ++i) {
        const int oc = lane + i * 32;
        bulk_store(out + ((int64_t(image) * OC + oc) * OH + y) * OW, stage + oc * PITCH, TILE_ROWS * OW * 4);
      }
      bulk_commit();
    }
  }
  if (warp == 0) bulk_wait_all();
}

}  // namespace

extern "C" KP_EXPORT int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  cudaStream_t stream = static_cast<cudaStream_t>(context->stream);
  int device = 0, multiprocessors = 0;
  if (cudaGetDevice(&device) != cudaSuccess ||
      cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device) != cudaSuccess)
    return 1;
  if (cudaFuncSetAttribute(conv_hardswish, cudaFuncAttributeMaxDynamicSharedMemorySize, int(SMEM_BYTES)) != cudaSuccess ||
      cudaFuncSetAttribute(conv_hardswish, cudaFuncAttributePreferredSharedMemoryCarveout,
                           int(cudaSharedmemCarveoutMaxShared)) != cudaSuccess)
    return 1;
  const int blocks = 2 * multiprocessors < TILES ? 2 * multiprocessors : TILES;
  conv_hardswish<<<blocks, THREADS, SMEM_BYTES, stream>>>(
      static_cast<const float*>(tensors[0].data), static_cast<const float*>(tensors[1].data),
      static_cast<const float*>(tensors[2].data), static_cast<float*>(tensors[3].data));
  return cudaGetLastError() != cudaSuccess;
}
