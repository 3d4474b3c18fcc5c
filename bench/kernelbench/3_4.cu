// kp:compiler nvcc
// kp:options -O3 -std=c++17
//
// LeNet-5 in one kernel: nothing but the input and the 20 outputs of an image touches global memory.
// All products run on tensor cores with f32 accuracy: every operand is split into two pieces (fp16 hi + lo
// after an exact power-of-two scale, 22 bits; tf32 hi + lo in the small layers), the three products
// hi*hi, hi*lo, lo*hi are added in f32, the two small ones in accumulators of their own.
// A warp owns two images from the pixels to the 400 features; a block of 16 warps then does the fully
// connected layers of its 32 images.
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <stdint.h>

#include "kernelpro/candidate.h"

namespace {

// kp:tune CONV1_UNROLL = 1 2 5
constexpr int CONV1_UNROLL = 2;

constexpr int BATCH = 4096;
constexpr int WARPS = 16;
constexpr int THREADS = WARPS * 32;
constexpr int IMAGES = 2 * WARPS;  // per block
constexpr int BLOCKS = BATCH / IMAGES;
static_assert(BLOCKS * IMAGES == BATCH, "whole blocks");

// Shared memory of a warp.
// Image: as it arrives 1024 floats, then two planes (hi, lo) of 32 x 16 words, a word = two pixels as halves.
// Activations of conv1: 16-byte entries (hi, hi, lo, lo) as conv2's fragments want them. Entry P < 196 of the first
// plane has channels 0,1 and channels 2,3 of position P; entry P of the second has channels 4,5 of P and of P+1.
constexpr int IMG_BYTES = 4096;
constexpr int PLANE2 = 198;                     // 6 mod 8: the threads of a group fall on different banks
constexpr int ACT_BYTES = (PLANE2 + 196) * 16;  // 6304
constexpr int ROW_BYTES = 400 * 4;              // features of an image, hi and lo halves
constexpr int ACT_AT = IMG_BYTES;
constexpr int ROW_AT = IMG_BYTES + ACT_BYTES;   // features of the first image; the second's replace its activations
constexpr int ROW_STEP = ACT_AT - ROW_AT;
constexpr int REGION = 12096;                   // 64 mod 128: rows of neighbours on other banks
static_assert(ROW_AT + ROW_BYTES <= REGION && REGION % 128 == 64, "region");
constexpr int H1_AT = 0;     // outputs of fc1 and fc2 take the place of the image: 2 rows of 512 bytes each
constexpr int H2_AT = 1024;
constexpr int W2F_AT = WARPS * REGION;          // conv2 fragments: 10 k-tiles, hi then lo
constexpr int W2F_BYTES = 2 * 10 * 32 * 16;
constexpr int W1F_AT = W2F_AT + W2F_BYTES;      // conv1 fragments: 2 k-tiles, hi then lo
constexpr int W1F_BYTES = 2 * 2 * 32 * 16;
constexpr int RAW2_AT = W1F_AT + W1F_BYTES;     // conv2 weights as they come
constexpr int RAW1_AT = RAW2_AT + 2400 * 4;
constexpr int CONST_AT = RAW1_AT + 160 * 4;     // 6+2 conv1 bias, 16 conv2 bias, 8 constants, 16 maxima, 32 inverse scales
constexpr int SMEM_BYTES = CONST_AT + (8 + 16 + 8 + 16 + 32) * 4;
static_assert(SMEM_BYTES <= 232448, "shared memory");

__device__ __forceinline__ void mma_f16(float (&c)[4], uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3,
                                        uint32_t b0, uint32_t b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

__device__ __forceinline__ void mma_tf32(float (&c)[4], uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3,
                                         uint32_t b0, uint32_t b1) {
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

__device__ __forceinline__ uint32_t to_tf32(float x) {
  uint32_t r;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(x));
  return r;
}

// Two values as packed halves: hi is the rounded value, lo the rounded rest.
__device__ __forceinline__ void split2(float a, float b, uint32_t& hi, uint32_t& lo) {
  const __half2 h = __floats2half2_rn(a, b);
  const float2 f = __half22float2(h);
  const __half2 l = __floats2half2_rn(a - f.x, b - f.y);
  hi = *reinterpret_cast<const uint32_t*>(&h);
  lo = *reinterpret_cast<const uint32_t*>(&l);
}

__device__ __forceinline__ void cp_async16(void* shared, const void* global) {
  const uint32_t s = static_cast<uint32_t>(__cvta_generic_to_shared(shared));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(s), "l"(global) : "memory");
}
__device__ __forceinline__ void cp_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
__device__ __forceinline__ void cp_wait_all() { asm volatile("cp.async.wait_group 0;" ::: "memory"); }
__device__ __forceinline__ void prefetch_l2(const void* p) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(p));
}

// Hides a value from the optimiser, so that what follows from it is computed where it is used and not kept in
// registers across phases.
__device__ __forceinline__ int opaque(int x) {
  asm volatile("" : "+r"(x));
  return x;
}

__device__ __forceinline__ void split_tf32(float x, uint32_t& hi, uint32_t& lo) {
  hi = to_tf32(x);
  lo = to_tf32(x - __uint_as_float(hi));
}

// A power of two that brings m >= 0 into [2^14, 2^15), and its inverse; both finite and normal for every m.
__device__ __forceinline__ void pow2_scale(float m, float& scale, float& inverse) {
  uint32_t e = __float_as_uint(m) >> 23;
  if (e < 15u) e = 15u;
  scale = __uint_as_float((268u - e) << 23);
  inverse = __uint_as_float((e - 14u) << 23);
}

__device__ __forceinline__ float warp_max(float v) {
#pragma unroll
  for (int o = 16; o > 0; o >>= 1) v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, o));
  return v;
}

// Which (row dy, column pair q) of the 5 x 6 window of conv1 is slot s (0..3) of thread t; slot (0,0) is a pad.
// With 16 words per row this order has no bank conflicts.
__device__ __forceinline__ bool slot1(int s, int t, int& dy, int& q) {
  int i = 4 * s + t - 1;
  const bool valid = i >= 0;
  if (i < 0) i = 0;
  dy = i / 3;
  q = i % 3;
  return valid;
}

// Which tap of conv2 (channel pair p, dy, dx) is slot b of thread t in k-tile kt. Tiles 0..4: row dy = kt of
// channels 0..3, dx = t. Tiles 5..9: row dy = kt-5; thread 0 has the missing dx = 4 of channels 0..3, threads
// 1..3 have channels 4,5 at two neighbouring dx each (the last one is a pad).
__device__ __forceinline__ bool slot2(int kt, int b, int t, int& p, int& dy, int& dx) {
  dy = kt % 5;
  p = b;
  dx = kt < 5 ? t : 4;
  if (kt >= 5 && t > 0) {
    p = 2;
    dx = 2 * (t - 1) + b;
  }
  return dx < 5;
}

__device__ __forceinline__ void fetch_image(unsigned char* img, const float* __restrict__ x, int lane) {
#pragma unroll
  for (int i = 0; i < 8; i++) cp_async16(img + (i * 32 + lane) * 16, x + (i * 32 + lane) * 4);
  cp_commit();
}

// NJ groups of 4 pooling windows, from group J0 on: values before bias, the maximum of each window.
// Tile row v (conv rows 2wy and 2wy+1) with filter row dy reads activation row dy+v: loaded once, used twice.
template <int J0, int NJ>
__device__ __forceinline__ void conv2_pass(const uint4* act, const uint4* w2f, int lane_, float (&best)[14]) {
  const int lane = opaque(lane_), g = lane >> 2, t = lane & 3;
  const uint4* base[NJ];
#pragma unroll
  for (int j = 0; j < NJ; j++) {
    int w = 4 * (J0 + j) + (g >> 1);
    if (w > 24) w = 24;
    base[j] = act + (w / 5) * 28 + (w % 5) * 2 + (g & 1);
  }
  float big[NJ][2][4], small[NJ][2][4];
#pragma unroll
  for (int j = 0; j < NJ; j++)
#pragma unroll
    for (int v = 0; v < 2; v++)
#pragma unroll
      for (int i = 0; i < 4; i++) big[j][v][i] = small[j][v][i] = 0.0f;
#pragma unroll
  for (int half = 0; half < 2; half++) {
    const int shift = half == 0 ? t : (t == 0 ? 4 : PLANE2 + 2 * (t - 1));
    uint4 row[NJ][2];
#pragma unroll
    for (int j = 0; j < NJ; j++) row[j][0] = base[j][shift];
#pragma unroll
    for (int dy = 0; dy < 5; dy++) {
      const uint4 ah = w2f[(half * 5 + dy) * 32 + lane];
      const uint4 al = w2f[(10 + half * 5 + dy) * 32 + lane];
#pragma unroll
      for (int j = 0; j < NJ; j++) {
        row[j][(dy + 1) & 1] = base[j][shift + (dy + 1) * 14];
#pragma unroll
        for (int v = 0; v < 2; v++) {
          const uint4 b = row[j][(dy + v) & 1];
          mma_f16(big[j][v], ah.x, ah.y, ah.z, ah.w, b.x, b.y);
          mma_f16(small[j][v], ah.x, ah.y, ah.z, ah.w, b.z, b.w);
          mma_f16(small[j][v], al.x, al.y, al.z, al.w, b.x, b.y);
        }
      }
    }
  }
#pragma unroll
  for (int j = 0; j < NJ; j++) {
    float m[4];
#pragma unroll
    for (int i = 0; i < 4; i++) m[i] = fmaxf(big[j][0][i] + small[j][0][i], big[j][1][i] + small[j][1][i]);
    best[2 * (J0 + j)] = fmaxf(m[0], m[1]);
    best[2 * (J0 + j) + 1] = fmaxf(m[2], m[3]);
  }
}

// Loads the B pairs of a row of weights (K floats, pairs beyond it are 0) for TILES k-tiles of tf32.
template <int K, int TILES>
__device__ __forceinline__ void load_weights(const float* __restrict__ row, bool valid, int t, float2 (&w)[TILES]) {
#pragma unroll
  for (int k = 0; k < TILES; k++) {
    const int at = k * 8 + 2 * t;
    w[k] = make_float2(0.0f, 0.0f);
    if (valid && at < K) w[k] = *reinterpret_cast<const float2*>(row + at);
  }
}

// One m-tile (16 images) times one n-tile: acc = h * w^T, tf32 in three products.
template <int TILES>
__device__ __forceinline__ void small_layer(const float* row_lo, const float* row_hi, int t, const float2 (&w)[TILES],
                                            float (&acc)[4]) {
  float big[4] = {0, 0, 0, 0}, s0[4] = {0, 0, 0, 0}, s1[4] = {0, 0, 0, 0};
#pragma unroll
  for (int k = 0; k < TILES; k++) {
    const float2 x = *reinterpret_cast<const float2*>(row_lo + k * 8 + 2 * t);
    const float2 y = *reinterpret_cast<const float2*>(row_hi + k * 8 + 2 * t);
    uint32_t ah[4], al[4], bh[2], bl[2];
    split_tf32(x.x, ah[0], al[0]);
    split_tf32(y.x, ah[1], al[1]);
    split_tf32(x.y, ah[2], al[2]);
    split_tf32(y.y, ah[3], al[3]);
    split_tf32(w[k].x, bh[0], bl[0]);
    split_tf32(w[k].y, bh[1], bl[1]);
    mma_tf32(big, ah[0], ah[1], ah[2], ah[3], bh[0], bh[1]);
    mma_tf32(s0, ah[0], ah[1], ah[2], ah[3], bl[0], bl[1]);
    mma_tf32(s1, al[0], al[1], al[2], al[3], bh[0], bh[1]);
  }
#pragma unroll
  for (int i = 0; i < 4; i++) acc[i] = big[i] + (s0[i] + s1[i]);
}

// NC chunks of 16 features: weights w (scaled here by the maximum of the row) times both m-tiles, added to total.
template <int NC>
__device__ __forceinline__ void fc1_part(const unsigned char* rows, int first, const float4 (&w)[NC], int t,
                                         float (&total)[2][4]) {
  float m = 0.0f;
#pragma unroll
  for (int c = 0; c < NC; c++)
    m = fmaxf(fmaxf(fmaxf(m, fabsf(w[c].x)), fabsf(w[c].y)), fmaxf(fabsf(w[c].z), fabsf(w[c].w)));
  m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, 1));
  m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, 2));
  float scale, inverse;
  pow2_scale(m, scale, inverse);
  float big[2][4], small[2][4];
#pragma unroll
  for (int i = 0; i < 4; i++) big[0][i] = big[1][i] = small[0][i] = small[1][i] = 0.0f;
#pragma unroll
  for (int c = 0; c < NC; c++) {
    uint32_t h0, l0, h1, l1;
    split2(w[c].x * scale, w[c].y * scale, h0, l0);
    split2(w[c].z * scale, w[c].w * scale, h1, l1);
#pragma unroll
    for (int mt = 0; mt < 2; mt++) {
      const unsigned char* at = rows + mt * ROW_STEP + (first + c) * 64 + t * 16;
      const uint4 a = *reinterpret_cast<const uint4*>(at);                // hi, hi, lo, lo of image g
      const uint4 b = *reinterpret_cast<const uint4*>(at + 8 * REGION);   // of image g + 8
      mma_f16(big[mt], a.x, b.x, a.y, b.y, h0, h1);
      mma_f16(small[mt], a.x, b.x, a.y, b.y, l0, l1);
      mma_f16(small[mt], a.z, b.z, a.w, b.w, h0, h1);
    }
  }
  // Scales belong to rows of weights, which are columns 2t and 2t+1 of the result.
  const float i0 = __shfl_sync(0xffffffffu, inverse, 8 * t);
  const float i1 = __shfl_sync(0xffffffffu, inverse, 8 * t + 4);
#pragma unroll
  for (int mt = 0; mt < 2; mt++) {
    total[mt][0] += (big[mt][0] + small[mt][0]) * i0;
    total[mt][1] += (big[mt][1] + small[mt][1]) * i1;
    total[mt][2] += (big[mt][2] + small[mt][2]) * i0;
    total[mt][3] += (big[mt][3] + small[mt][3]) * i1;
  }
}

__global__ void __launch_bounds__(THREADS, 1)
lenet(const float* __restrict__ input, const float* __restrict__ w1, const float* __restrict__ b1,
      const float* __restrict__ w2, const float* __restrict__ b2, const float* __restrict__ f1w,
      const float* __restrict__ f1b, const float* __restrict__ f2w, const float* __restrict__ f2b,
      const float* __restrict__ f3w, const float* __restrict__ f3b, float* __restrict__ out) {
  extern __shared__ __align__(256) unsigned char smem[];
  const int tid = threadIdx.x, lane = tid & 31, warp = tid >> 5;
  const int g = lane >> 2, t = lane & 3;

  unsigned char* region = smem + warp * REGION;
  unsigned char* img = region;
  unsigned char* act = region + ACT_AT;
  uint4* w2f = reinterpret_cast<uint4*>(smem + W2F_AT);
  uint4* w1f = reinterpret_cast<uint4*>(smem + W1F_AT);
  float* raw2 = reinterpret_cast<float*>(smem + RAW2_AT);
  float* raw1 = reinterpret_cast<float*>(smem + RAW1_AT);
  float* bias1 = reinterpret_cast<float*>(smem + CONST_AT);
  float* bias2 = bias1 + 8;
  float* konst = bias2 + 16;
  float* maxima = konst + 8;
  float* inverse_row = maxima + 16;

  const float* mine = input + static_cast<size_t>(blockIdx.x * IMAGES + warp) * 1024;
  fetch_image(img, mine, lane);
  prefetch_l2(mine + WARPS * 1024 + lane * 32);
  {  // the weights of the last layers come to L2 while the convolutions run; each line is asked for once
    const int id = blockIdx.x * THREADS + tid;
    if (id < 1500)
      prefetch_l2(f1w + id * 32);
    else if (id < 1500 + 315)
      prefetch_l2(f2w + (id - 1500) * 32);
    else if (id < 1500 + 315 + 52)
      prefetch_l2(f3w + (id - 1815) * 32);
  }

  // Weights of the convolutions: as they come, then as fragments.
  float m2 = 0.0f;
#pragma unroll
  for (int i = 0; i < 5; i++) {
    const int at = i * THREADS + tid;
    if (at < 2400) {
      const float v = w2[at];
      raw2[at] = v;
      m2 = fmaxf(m2, fabsf(v));
    }
  }
  if (tid < 150) raw1[tid] = w1[tid];
  if (tid >= 160 && tid < 168) bias1[tid - 160] = tid < 166 ? b1[tid - 160] : 0.0f;
  if (tid >= 192 && tid < 208) bias2[tid - 192] = b2[tid - 192];
  m2 = warp_max(m2);
  if (lane == 0) maxima[warp] = m2;
  __syncthreads();

  // The one half of an entry that conv1 never writes; its weight is 0, it must only be finite.
  if (lane < 2) *reinterpret_cast<uint32_t*>(act + (PLANE2 + 195) * 16 + 4 + 8 * lane) = 0u;
  float m1 = 0.0f;
#pragma unroll
  for (int i = 0; i < 5; i++)
    if (i * 32 + lane < 150) m1 = fmaxf(m1, fabsf(raw1[i * 32 + lane]));
  m1 = warp_max(m1);
  m2 = 0.0f;
#pragma unroll
  for (int i = 0; i < WARPS; i++) m2 = fmaxf(m2, maxima[i]);
  float scale1, inverse1, scale2, inverse2;
  pow2_scale(m1, scale1, inverse1);
  pow2_scale(m2, scale2, inverse2);
  for (int idx = tid; idx < 1280; idx += THREADS) {
    const int kt = idx >> 7, l = (idx >> 2) & 31, a = idx & 3;
    const int oc = (l >> 2) + 8 * (a & 1);
    int p = 0, dy = 0, dx = 0;
    float u = 0.0f, v = 0.0f;
    if (slot2(kt, a >> 1, l & 3, p, dy, dx)) {
      u = raw2[(oc * 6 + 2 * p) * 25 + dy * 5 + dx] * scale2;
      v = raw2[(oc * 6 + 2 * p + 1) * 25 + dy * 5 + dx] * scale2;
    }
    uint32_t hi, lo;
    split2(u, v, hi, lo);
    reinterpret_cast<uint32_t*>(w2f)[idx] = hi;
    reinterpret_cast<uint32_t*>(w2f)[1280 + idx] = lo;
  }
  if (tid < 256) {
    const int kt = tid >> 7, l = (tid >> 2) & 31, a = tid & 3;
    const int oc = l >> 2, shift = a & 1;
    int dy, q;
    float u = 0.0f, v = 0.0f;
    if (slot1(2 * kt + (a >> 1), l & 3, dy, q) && oc < 6) {
      const int d = 2 * q - shift;  // column of the filter
      if (d >= 0 && d < 5) u = raw1[oc * 25 + dy * 5 + d] * scale1;
      if (d + 1 >= 0 && d + 1 < 5) v = raw1[oc * 25 + dy * 5 + d + 1] * scale1;
    }
    uint32_t hi, lo;
    split2(u, v, hi, lo);
    reinterpret_cast<uint32_t*>(w1f)[tid] = hi;
    reinterpret_cast<uint32_t*>(w1f)[256 + tid] = lo;
  } else if (warp == 8) {
    // Bound of conv1's outputs: max|x| * max over channels of sum|w| + max|b|.
    float sum = 0.0f, b = 0.0f;
    if (lane < 6) {
      for (int i = 0; i < 25; i++) sum += fabsf(raw1[lane * 25 + i]);
      b = fabsf(bias1[lane]);
    }
    sum = warp_max(sum);
    b = warp_max(b);
    if (lane == 0) {
      konst[0] = sum;
      konst[1] = b;
    }
  }
  __syncthreads();

#pragma unroll 1
  for (int image = 0; image < 2; image++) {
    // Pixels become scaled halves, hi and lo, in the same place; each lane has the chunks that it copied.
    float scale_x, inverse_x, bound;
    cp_wait_all();
    {
      float4 px[8];
      float m = 0.0f;
#pragma unroll
      for (int i = 0; i < 8; i++) {
        px[i] = *reinterpret_cast<const float4*>(img + (i * 32 + lane) * 16);
        m = fmaxf(fmaxf(fmaxf(m, fabsf(px[i].x)), fabsf(px[i].y)), fmaxf(fabsf(px[i].z), fabsf(px[i].w)));
      }
      m = warp_max(m);
      pow2_scale(m, scale_x, inverse_x);
      bound = fmaf(m, konst[0], konst[1]);
      __syncwarp();  // all have read before the planes replace the floats
#pragma unroll
      for (int i = 0; i < 8; i++) {
        uint2 hi, lo;
        split2(px[i].x * scale_x, px[i].y * scale_x, hi.x, lo.x);
        split2(px[i].z * scale_x, px[i].w * scale_x, hi.y, lo.y);
        *reinterpret_cast<uint2*>(img + (i * 32 + lane) * 8) = hi;
        *reinterpret_cast<uint2*>(img + 2048 + (i * 32 + lane) * 8) = lo;
      }
    }
    __syncwarp();

    float scale_a, inverse_a;
    pow2_scale(bound, scale_a, inverse_a);
    {
      const int hidden = opaque(lane), g = hidden >> 2, t = hidden & 3;
      const uint32_t* pixels = reinterpret_cast<const uint32_t*>(img);
      const uint4 ah0 = w1f[lane], ah1 = w1f[32 + lane], al0 = w1f[64 + lane], al1 = w1f[96 + lane];
      int offset[4];
#pragma unroll
      for (int s = 0; s < 4; s++) {
        int dy, q;
        slot1(s, t, dy, q);
        offset[s] = dy * 16 + q;
      }
      const float factor = (inverse_x * inverse1) * scale_a;
      const float bias = bias1[g] * scale_a;
      // Channel pair 0: first half of the entries, 1: second half, 2: first half in plane 2.
      unsigned char* target = act + (g >= 4 ? PLANE2 * 16 : (g >= 2 ? 4 : 0));
#pragma unroll CONV1_UNROLL
      for (int j = 0; j < 25; j++) {
        // Column n = g of both tiles is pooled position 8j+g: conv rows 2py and 2py+1.
        int pos = 8 * j + g;
        if (pos > 195) pos = 195;
        const uint32_t* at = pixels + pos + (pos / 14) * (2 * 16 - 14);
        float r[2][4];
#pragma unroll
        for (int v = 0; v < 2; v++) {
          float big[4] = {0, 0, 0, 0}, small[4] = {0, 0, 0, 0};
          const uint32_t h0 = at[offset[0] + v * 16], h1 = at[offset[1] + v * 16];
          const uint32_t h2 = at[offset[2] + v * 16], h3 = at[offset[3] + v * 16];
          const uint32_t l0 = at[offset[0] + v * 16 + 512], l1 = at[offset[1] + v * 16 + 512];
          const uint32_t l2 = at[offset[2] + v * 16 + 512], l3 = at[offset[3] + v * 16 + 512];
          mma_f16(big, ah0.x, ah0.y, ah0.z, ah0.w, h0, h1);
          mma_f16(small, ah0.x, ah0.y, ah0.z, ah0.w, l0, l1);
          mma_f16(big, ah1.x, ah1.y, ah1.z, ah1.w, h2, h3);
          mma_f16(small, al0.x, al0.y, al0.z, al0.w, h0, h1);
          mma_f16(small, ah1.x, ah1.y, ah1.z, ah1.w, l2, l3);
          mma_f16(small, al1.x, al1.y, al1.z, al1.w, h2, h3);
#pragma unroll
          for (int i = 0; i < 4; i++) r[v][i] = big[i] + small[i];
        }
        // Channel g at positions 8j+2t and 8j+2t+1, already in the scale of the activations.
        float y0 = fmaxf(fmaxf(r[0][0], r[0][2]), fmaxf(r[1][0], r[1][2]));
        float y1 = fmaxf(fmaxf(r[0][1], r[0][3]), fmaxf(r[1][1], r[1][3]));
        y0 = fmaxf(fmaf(y0, factor, bias), 0.0f);
        y1 = fmaxf(fmaf(y1, factor, bias), 0.0f);
        // Even channels take the first position, odd ones the second, each with both channels of the pair.
        const bool odd = (g & 1) != 0;
        const float other = __shfl_xor_sync(0xffffffffu, odd ? y0 : y1, 4);
        uint32_t hi, lo;
        split2(odd ? other : y0, odd ? y1 : other, hi, lo);
        const int where = 8 * j + 2 * t + (g & 1);
        uint32_t* entry = reinterpret_cast<uint32_t*>(target + where * 16);
        if (g < 6 && where < 196) {
          entry[0] = hi;
          entry[2] = lo;
          if (g >= 4 && where > 0) {  // also the second half of the entry before
            entry[-3] = hi;
            entry[-1] = lo;
          }
        }
      }
    }
    __syncwarp();
    if (image == 0) fetch_image(img, mine + WARPS * 1024, lane);

    // conv2, pooled: channels g and g+8 of windows 4j+t.
    float best[14];
    conv2_pass<0, 4>(reinterpret_cast<const uint4*>(act), w2f, lane, best);
    __syncwarp();  // keeps the compiler from holding weights of the first pass for the second
    conv2_pass<4, 3>(reinterpret_cast<const uint4*>(act), w2f, lane, best);
    const float factor = inverse_a * inverse2;
    const float bl = bias2[g], bh = bias2[g + 8];
    float m = 0.0f;
#pragma unroll
    for (int j = 0; j < 7; j++) {
      best[2 * j] = fmaxf(fmaf(best[2 * j], factor, bl), 0.0f);
      best[2 * j + 1] = fmaxf(fmaf(best[2 * j + 1], factor, bh), 0.0f);
      if (4 * j + t < 25) m = fmaxf(m, fmaxf(best[2 * j], best[2 * j + 1]));
    }
    m = warp_max(m);
    __syncwarp();  // all have read the activations: features or the next image's may replace them
    float scale_f, inverse_f;
    pow2_scale(m, scale_f, inverse_f);
    if (lane == 0) inverse_row[image * WARPS + warp] = inverse_f;
    unsigned char* row = region + ROW_AT + image * ROW_STEP;
#pragma unroll
    for (int j = 0; j < 7; j++) {
      const int w = 4 * j + t;
      if (w < 25) {
        uint32_t hi, lo;
        split2(best[2 * j] * scale_f, best[2 * j + 1] * scale_f, hi, lo);
        const int k0 = g * 25 + w, k1 = k0 + 200;
        unsigned char* a0 = row + (k0 >> 2) * 16 + (k0 & 3) * 2;
        unsigned char* a1 = row + (k1 >> 2) * 16 + (k1 & 3) * 2;
        *reinterpret_cast<uint16_t*>(a0) = static_cast<uint16_t>(hi);
        *reinterpret_cast<uint16_t*>(a0 + 8) = static_cast<uint16_t>(lo);
        *reinterpret_cast<uint16_t*>(a1) = static_cast<uint16_t>(hi >> 16);
        *reinterpret_cast<uint16_t*>(a1 + 8) = static_cast<uint16_t>(lo >> 16);
      }
    }
  }

  // fc1: n-tile `warp`, 32 images. Feature 16c+4t.. of the chunk are slots t and t+4 of the tile.
  // The first half of the weights is on its way while the warp waits for the others.
  float2 v2[15], v3[11];
  float4 wa[13];
  const float* wrow = f1w + (warp * 8 + g) * 400 + t * 4;
  if (warp < 15) {
#pragma unroll
    for (int c = 0; c < 13; c++) wa[c] = *reinterpret_cast<const float4*>(wrow + c * 16);
  }
  __syncthreads();
  if (warp < 15) {
    float4 wb[12];
    const unsigned char* rows = smem + g * REGION + ROW_AT;
    float total[2][4] = {{0, 0, 0, 0}, {0, 0, 0, 0}};
    fc1_part<13>(rows, 0, wa, t, total);
#pragma unroll
    for (int c = 0; c < 12; c++) wb[c] = *reinterpret_cast<const float4*>(wrow + (13 + c) * 16);
    fc1_part<12>(rows, 13, wb, t, total);
    const int n = warp * 8 + 2 * t;
    const float c0 = f1b[n], c1 = f1b[n + 1];
#pragma unroll
    for (int mt = 0; mt < 2; mt++)
#pragma unroll
      for (int h = 0; h < 2; h++) {
        const float s = inverse_row[mt * 16 + g + 8 * h];
        float2 y;
        y.x = fmaxf(fmaf(total[mt][2 * h], s, c0), 0.0f);
        y.y = fmaxf(fmaf(total[mt][2 * h + 1], s, c1), 0.0f);
        *reinterpret_cast<float2*>(smem + (g + 8 * h) * REGION + H1_AT + mt * 512 + n * 4) = y;
      }
  }
  // fc2: n-tiles 0..10 (84 outputs, the rest of the last tile stays 0 for fc3's padding).
  if (warp < 11) load_weights<120, 15>(f2w + (warp * 8 + g) * 120, warp * 8 + g < 84, t, v2);
  __syncthreads();
  if (warp < 11) {
    const int n = warp * 8 + 2 * t;
    const float c0 = n < 84 ? f2b[n] : 0.0f, c1 = n < 84 ? f2b[n + 1] : 0.0f;
#pragma unroll
    for (int mt = 0; mt < 2; mt++) {
      const unsigned char* h1 = smem + g * REGION + H1_AT + mt * 512;
      float acc[4];
      small_layer<15>(reinterpret_cast<const float*>(h1), reinterpret_cast<const float*>(h1 + 8 * REGION), t, v2, acc);
#pragma unroll
      for (int h = 0; h < 2; h++) {
        const float2 y = make_float2(fmaxf(acc[2 * h] + c0, 0.0f), fmaxf(acc[2 * h + 1] + c1, 0.0f));
        *reinterpret_cast<float2*>(smem + (g + 8 * h) * REGION + H2_AT + mt * 512 + n * 4) = y;
      }
    }
  }
  // fc3: 3 n-tiles x 2 m-tiles, one warp each.
  const int nt = warp >> 1, mt = warp & 1;
  if (warp < 6) load_weights<84, 11>(f3w + (nt * 8 + g) * 84, nt * 8 + g < 20, t, v3);
  __syncthreads();
  if (warp < 6) {
    const unsigned char* h2 = smem + g * REGION + H2_AT + mt * 512;
    float acc[4];
    small_layer<11>(reinterpret_cast<const float*>(h2), reinterpret_cast<const float*>(h2 + 8 * REGION), t, v3, acc);
    const int n = nt * 8 + 2 * t;
    if (n < 20) {
      const float c0 = f3b[n], c1 = f3b[n + 1];
      float* o = out + static_cast<size_t>(blockIdx.x * IMAGES + mt * 16 + g) * 20 + n;
      *reinterpret_cast<float2*>(o) = make_float2(acc[0] + c0, acc[1] + c1);
      *reinterpret_cast<float2*>(o + 8 * 20) = make_float2(acc[2] + c0, acc[3] + c1);
    }
  }
}

}  // namespace

extern "C" KP_EXPORT int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  if (count != 12) return 1;
  const float* p[11];
  for (int i = 0; i < 11; i++) p[i] = static_cast<const float*>(tensors[i].data);
  if (cudaFuncSetAttribute(lenet, cudaFuncAttributeMaxDynamicSharedMemorySize, SMEM_BYTES) != cudaSuccess) return 1;
  lenet<<<BLOCKS, THREADS, SMEM_BYTES, static_cast<cudaStream_t>(context->stream)>>>(
      p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7], p[8], p[9], p[10], static_cast<float*>(tensors[11].data));
  return cudaGetLastError() != cudaSuccess;
}
