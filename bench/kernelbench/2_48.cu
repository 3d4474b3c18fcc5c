// kp:compiler nvcc
// kp:options -O3 -std=c++17
// 3x3x3 convolution 3 -> 16 channels as an implicit GEMM on tensor cores, with scaling, tanh, factor and sigmoid.
// f32 accuracy: every operand is scaled by a power of two and split into two f16 numbers, v = hi + lo with a rest
// below 2^-22 |v|; hi*hi + hi*lo + lo*hi are accumulated in f32. The scale follows the maximum of the plane's tile
// (of the weights), so that any magnitude works; planes are added up unscaled in f32.
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <stdint.h>

#include "kernelpro/candidate.h"

namespace {

constexpr int IMAGES = 128, IC = 3, D = 16, H = 64, W = 64, OC = 16, OD = 14, OH = 62, OW = 62;
constexpr int THREADS = 256, WARPS = THREADS / 32;
constexpr int ROWS = 4, IN_ROWS = ROWS + 2;
constexpr int STRIPS = (OH + ROWS - 1) / ROWS;   // 16, the last one of 2 rows
constexpr int UNITS = IMAGES * STRIPS;
constexpr int PIXELS = IN_ROWS * W;              // 384
constexpr int PIECES = IC * PIXELS / 4;          // 16-byte pieces of a plane's tile: 288
constexpr int PITCH = 264;                       // floats of a staged channel: 248, = 8 mod 32 against bank conflicts
static_assert(OH % 2 == 0 && ROWS % 2 == 0 && (2 * OW * 4) % 16 == 0 && (OH * OW * 4) % 16 == 0, "");

// Pixels in shared memory are words of two f16: plane A has (channel 0, channel 1) at x, plane B channel 2 at
// (x, x+1). Rows of 72 words, = 8 mod 32; plane B begins at 24 mod 32: the fourth group of 8 banks.
constexpr int ROW_WORDS = 72, PLANE_B = 440, LO_WORDS = 896;
static_assert(IN_ROWS * ROW_WORDS <= PLANE_B && PLANE_B + IN_ROWS * ROW_WORDS <= LO_WORDS, "");
static_assert(PLANE_B % 32 == 24, "");

constexpr uint32_t RAW = 0;                                // [IC][PIXELS] f32
constexpr uint32_t ACT = RAW + IC * PIXELS * 4;            // words hi, then lo
constexpr uint32_t STAGE = ACT + 2 * LO_WORDS * 4;         // 2 x [OC][PITCH] f32
constexpr uint32_t STAGE_BYTES = OC * PITCH * 4;
constexpr uint32_t FACTORS = STAGE + 2 * STAGE_BYTES;      // [OC] float4 for the epilogue
constexpr uint32_t MAXIMA = FACTORS + OC * 16;
constexpr uint32_t SMEM_BYTES = MAXIMA + WARPS * 4;
static_assert(ACT % 128 == 0 && STAGE % 128 == 0 && STAGE_BYTES % 128 == 0, "");

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
__device__ __forceinline__ void mma16816(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
// Two scaled numbers as f16 pairs hi and lo, a in the lower half.
__device__ __forceinline__ void split2(float a, float b, uint32_t& hi, uint32_t& lo) {
  const __half2 h = __floats2half2_rn(a, b);
  const float2 f = __half22float2(h);
  const __half2 l = __floats2half2_rn(a - f.x, b - f.y);
  hi = *reinterpret_cast<const uint32_t*>(&h);
  lo = *reinterpret_cast<const uint32_t*>(&l);
}
__device__ __forceinline__ float ex2(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
__device__ __forceinline__ float rcp(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
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

// Starts the copy of plane z of a unit; rows below the image are zero (they serve no output that exists).
__device__ __forceinline__ void load_plane(const float* __restrict__ x, float* raw, int unit, int z) {
  const int image = unit / STRIPS, y0 = (unit % STRIPS) * ROWS;
#pragma unroll
  for (int i = 0; i < (PIECES + THREADS - 1) / THREADS; ++i) {
    const int piece = threadIdx.x + i * THREADS;
    if (piece < PIECES) {
      const int channel = piece / (PIXELS / 4), offset = (piece % (PIXELS / 4)) * 4;
      if (y0 + offset / W < H)
        cp_async16(raw + piece * 4, x + ((int64_t(image) * IC + channel) * D + z) * (H * W) + y0 * W + offset);
      else
        *reinterpret_cast<float4*>(raw + piece * 4) = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    }
  }
}

// The weights (two k values) of k16 step s, half b of it, lane group q: what the word at the same place holds.
__device__ __forceinline__ float2 weight_pair(const float* __restrict__ w, int s, int b, int q) {
  // w: [IC][3 (dz)][3][3] at one channel and dz
  const int slot = s * 2 + b;
  if (slot < 3) {
    const int dx = slot == 0 ? 0 : slot == 1 ? 2 : 1;
    if (q < 3) return make_float2(w[q * 3 + dx], w[27 + q * 3 + dx]);
    if (slot == 0) return make_float2(w[54], w[55]);
    if (slot == 1) return make_float2(w[56], 0.0f);
    return make_float2(0.0f, 0.0f);
  }
  const int dy = 1 + (q >> 1);
  if ((q & 1) == 0) return make_float2(w[54 + dy * 3], w[54 + dy * 3 + 1]);
  return make_float2(w[54 + dy * 3 + 2], 0.0f);
}

// Two neighbours: sigmoid(b tanh(v)), tanh(v) = 1 - 2 / (1 + e^2v). f: {2 log2e s, 2 log2e s cb, 2 b log2e, -b log2e}.
// The reciprocals of the two 1 + e^2v come from one; the exponent's bound keeps their product finite.
__device__ __forceinline__ float2 activate(float v0, float v1, float4 f) {
  const float e0 = 1.0f + ex2(fminf(fmaf(v0, f.x, f.y), 60.0f));
  const float e1 = 1.0f + ex2(fminf(fmaf(v1, f.x, f.y), 60.0f));
  const float r = rcp(e0 * e1);
  const float w0 = fmaf(f.z, r * e1, f.w);
  const float w1 = fmaf(f.z, r * e0, f.w);
  return make_float2(rcp(1.0f + ex2(w0)), rcp(1.0f + ex2(w1)));
}

__device__ __forceinline__ void products(float (&part)[2][4], const uint32_t (&wh)[2][4], const uint32_t (&wl)[2][4],
                                         const uint32_t (&bh)[2][4], const uint32_t (&bl)[2][4]) {
#pragma unroll
  for (int j = 0; j < 2; ++j)
#pragma unroll
    for (int i = 0; i < 4; ++i) part[j][i] = 0.0f;
  // The small products first: they lose nothing while the sum is small.
#pragma unroll
  for (int s = 0; s < 2; ++s) {
#pragma unroll
    for (int j = 0; j < 2; ++j) mma16816(part[j], wh[s], bl[j][2 * s], bl[j][2 * s + 1]);
#pragma unroll
    for (int j = 0; j < 2; ++j) mma16816(part[j], wl[s], bh[j][2 * s], bh[j][2 * s + 1]);
  }
#pragma unroll
  for (int s = 0; s < 2; ++s)
#pragma unroll
    for (int j = 0; j < 2; ++j) mma16816(part[j], wh[s], bh[j][2 * s], bh[j][2 * s + 1]);
}

__global__ void __launch_bounds__(THREADS, 2)
conv3d_sigmoid(const float* __restrict__ x, const float* __restrict__ scaling, const float* __restrict__ factor,
               const float* __restrict__ weight, const float* __restrict__ bias, float* __restrict__ out) {
  extern __shared__ __align__(128) unsigned char smem[];
  float* raw = reinterpret_cast<float*>(smem + RAW);
  uint32_t* act = reinterpret_cast<uint32_t*>(smem + ACT);
  float4* factors = reinterpret_cast<float4*>(smem + FACTORS);
  uint32_t* maxima = reinterpret_cast<uint32_t*>(smem + MAXIMA);
  const int t = threadIdx.x, lane = t & 31, warp = t >> 5;
  const int g = lane >> 2, q = lane & 3;

  int unit = blockIdx.x;
  if (unit < UNITS) load_plane(x, raw, unit, 0);
  cp_commit();

  uint32_t m = 0;
  for (int i = t; i < OC * IC * 27; i += THREADS) m = umax(m, abs_bits(weight[i]));
  m = warp_max(m);
  if (lane == 0) maxima[warp] = m;
  if (t < OC) {
    const float log2e = 1.4426950408889634f;
    const float s = 2.0f * log2e * scaling[t], b = log2e * factor[t];
    factors[t] = make_float4(s, s * bias[t], 2.0f * b, -b);
  }
  __syncthreads();
  m = 0;
#pragma unroll
  for (int i = 0; i < WARPS; ++i) m = umax(m, maxima[i]);
  __syncthreads();
  const uint32_t weight_field = scale_field(m);
  const float weight_scale = power(weight_field), weight_inverse = power(254u - weight_field);

  // All 16 channels as A fragments, for each dz two k16 steps: 48 registers.
  uint32_t wh[3][2][4], wl[3][2][4];
#pragma unroll
  for (int dz = 0; dz < 3; ++dz)
#pragma unroll
    for (int s = 0; s < 2; ++s)
#pragma unroll
      for (int b = 0; b < 2; ++b)
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          // [OC][IC][3][3][3]; weight_pair's strides of 27 are those of a channel.
          const float2 v = weight_pair(weight + (g + half * 8) * (IC * 27) + dz * 9, s, b, q);
          split2(v.x * weight_scale, v.y * weight_scale, wh[dz][s][b * 2 + half], wl[dz][s][b * 2 + half]);
        }

  // This warp: one row, 32 columns = 4 n8 tiles. base: taps (dy = q, dx = 0) of plane A, or (0, 0) of plane B;
  // base + 2, base + 1: the same with dx = 2, 1. rest: taps (1, 0), (1, 2), (2, 0), (2, 2) of plane B.
  const int row = warp >> 1, col0 = (warp & 1) * 32;
  const int base = (q < 3 ? (row + q) * ROW_WORDS : PLANE_B + row * ROW_WORDS) + col0 + g;
  const int rest = PLANE_B + (row + 1 + (q >> 1)) * ROW_WORDS + (q & 1) * 2 + col0 + g;

  float older[4][4], newer[4][4];  // sums of the outputs z-2 (before dz = 2) and z-1 (before dz = 1)
#pragma unroll
  for (int n = 0; n < 4; ++n)
#pragma unroll
    for (int i = 0; i < 4; ++i) older[n][i] = newer[n][i] = 0.0f;

  int staged = -1, staged_z = 0;  // the unit whose outputs staged_z wait in the stage
  uint32_t buffer = 0;
  for (; unit < UNITS; unit += gridDim.x) {
#pragma unroll 1
    for (int z = 0; z < D; ++z) {
      cp_wait<0>();
      // Maximum over what this thread has copied itself; the barrier makes all of it visible to everybody.
      m = 0;
#pragma unroll
      for (int i = 0; i < (PIECES + THREADS - 1) / THREADS; ++i) {
        const int piece = t + i * THREADS;
        if (piece < PIECES) {
          const float4 v = *reinterpret_cast<const float4*>(raw + piece * 4);
          m = umax(m, umax(umax(abs_bits(v.x), abs_bits(v.y)), umax(abs_bits(v.z), abs_bits(v.w))));
        }
      }
      m = warp_max(m);
      if (lane == 0) maxima[warp] = m;
      if (warp == 0) bulk_wait_read();  // the other stage has been read
      __syncthreads();  // raw and maxima are there; the last plane's products are done and staged
      if (warp == 0 && staged >= 0) {
        if (lane < OC) {
          const int image = staged / STRIPS, y0 = (staged % STRIPS) * ROWS;
          const int rows = OH - y0 < ROWS ? OH - y0 : ROWS;
          bulk_store(out + (((int64_t(image) * OC + lane) * OD + staged_z) * OH + y0) * OW,
                     smem + STAGE + (buffer ^ 1u) * STAGE_BYTES + lane * (PITCH * 4), rows * OW * 4);
        }
        bulk_commit();
      }
      staged = -1;
      m = 0;
#pragma unroll
      for (int i = 0; i < WARPS; ++i) m = umax(m, maxima[i]);
      const uint32_t field = scale_field(m);
      const float scale = power(field), inverse = power(254u - field) * weight_inverse;
#pragma unroll
      for (int i = 0; i < (PIXELS + THREADS - 1) / THREADS; ++i) {
        const int p = t + i * THREADS;
        if (p < PIXELS) {
          const int col = p % W, word = (p / W) * ROW_WORDS + col;
          const float next = col + 1 < W ? raw[2 * PIXELS + p + 1] : 0.0f;
          uint32_t hi, lo;
          split2(raw[p] * scale, raw[PIXELS + p] * scale, hi, lo);
          act[word] = hi;
          act[LO_WORDS + word] = lo;
          split2(raw[2 * PIXELS + p] * scale, next * scale, hi, lo);
          act[PLANE_B + word] = hi;
          act[LO_WORDS + PLANE_B + word] = lo;
        }
      }
      __syncthreads();  // pixels are there, raw is free
      {
        const int next_unit = z + 1 < D ? unit : unit + int(gridDim.x);
        if (next_unit < UNITS) load_plane(x, raw, next_unit, z + 1 < D ? z + 1 : 0);
        cp_commit();
      }

      float* stage = reinterpret_cast<float*>(smem + STAGE + buffer * STAGE_BYTES) + g * PITCH + row * OW;
      const bool row_exists = (unit % STRIPS) * ROWS + row < OH;
#pragma unroll
      for (int pair = 0; pair < 2; ++pair) {
        uint32_t bh[2][4], bl[2][4];
#pragma unroll
        for (int j = 0; j < 2; ++j) {
          const uint32_t* a = act + base + pair * 16 + j * 8;
          const uint32_t* b = act + rest + pair * 16 + j * 8;
          bh[j][0] = a[0];
          bh[j][1] = a[2];
          bh[j][2] = a[1];
          bh[j][3] = b[0];
          bl[j][0] = a[LO_WORDS];
          bl[j][1] = a[LO_WORDS + 2];
          bl[j][2] = a[LO_WORDS + 1];
          bl[j][3] = b[LO_WORDS];
        }
        float part[2][4];
        if (z >= 2) {
          products(part, wh[2], wl[2], bh, bl);
          const float4 f0 = factors[g], f1 = factors[g + 8];
#pragma unroll
          for (int j = 0; j < 2; ++j) {
            const int n = pair * 2 + j, col = col0 + n * 8 + q * 2;
            float v[4];
#pragma unroll
            for (int i = 0; i < 4; ++i) v[i] = fmaf(part[j][i], inverse, older[n][i]);
            const float2 r0 = activate(v[0], v[1], f0), r1 = activate(v[2], v[3], f1);
            if (row_exists && col < OW) {
              *reinterpret_cast<float2*>(stage + col) = r0;
              *reinterpret_cast<float2*>(stage + 8 * PITCH + col) = r1;
            }
          }
        }
        if (z >= 1 && z < D - 1) {
          products(part, wh[1], wl[1], bh, bl);
#pragma unroll
          for (int j = 0; j < 2; ++j)
#pragma unroll
            for (int i = 0; i < 4; ++i) older[pair * 2 + j][i] = fmaf(part[j][i], inverse, newer[pair * 2 + j][i]);
        }
        if (z < D - 2) {
          products(part, wh[0], wl[0], bh, bl);
#pragma unroll
          for (int j = 0; j < 2; ++j)
#pragma unroll
            for (int i = 0; i < 4; ++i) newer[pair * 2 + j][i] = part[j][i] * inverse;
        }
      }
      if (z >= 2) {
        fence_async();  // what was staged is for the copy engine, after the next barrier
        staged = unit;
        staged_z = z - 2;
        buffer ^= 1u;
      }
    }
  }
  __syncthreads();
  if (warp == 0) {
    if (staged >= 0) {
      if (lane < OC) {
        const int image = staged / STRIPS, y0 = (staged % STRIPS) * ROWS;
        const int rows = OH - y0 < ROWS ? OH - y0 : ROWS;
        bulk_store(out + (((int64_t(image) * OC + lane) * OD + staged_z) * OH + y0) * OW,
                   smem + STAGE + (buffer ^ 1u) * STAGE_BYTES + lane * (PITCH * 4), rows * OW * 4);
      }
      bulk_commit();
    }
    bulk_wait_all();
  }
}

}  // namespace

extern "C" KP_EXPORT int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  cudaStream_t stream = static_cast<cudaStream_t>(context->stream);
  int device = 0, multiprocessors = 0;
  if (cudaGetDevice(&device) != cudaSuccess ||
      cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device) != cudaSuccess)
    return 1;
  if (cudaFuncSetAttribute(conv3d_sigmoid, cudaFuncAttributeMaxDynamicSharedMemorySize, int(SMEM_BYTES)) != cudaSuccess ||
      cudaFuncSetAttribute(conv3d_sigmoid, cudaFuncAttributePreferredSharedMemoryCarveout,
                           int(cudaSharedmemCarveoutMaxShared)) != cudaSuccess)
    return 1;
  const int blocks = 2 * multiprocessors < UNITS ? 2 * multiprocessors : UNITS;
  conv3d_sigmoid<<<blocks, THREADS, SMEM_BYTES, stream>>>(
      static_cast<const float*>(tensors[0].data), static_cast<const float*>(tensors[1].data),
      static_cast<const float*>(tensors[2].data), static_cast<const float*>(tensors[3].data),
      static_cast<const float*>(tensors[4].data), static_cast<float*>(tensors[5].data));
  return cudaGetLastError() != cudaSuccess;
}
