// kp:compiler nvcc
// kp:options -O3 -std=c++17
// LayerNorm over rows of 4194304 floats, x read once: every block owns the same 32768 columns of all rows, its
// slice of a row stays in shared memory between the statistics (which all blocks exchange) and the output.
#include <cuda_runtime.h>
#include <stdint.h>

#include "kernelpro/candidate.h"

namespace {

constexpr int ROWS = 16;
constexpr int BLOCKS = 128;   // co-resident, one on each SM
constexpr int THREADS = 512;
constexpr int PER = 2;        // float4 a thread has of a chunk
constexpr int CHUNKS = 8;     // chunks of a block's slice of a row
constexpr int SLOTS = 14;     // chunks that fit in shared memory
constexpr int CHUNK = THREADS * PER * 4;        // floats
constexpr int SLICE = CHUNKS * CHUNK;           // floats
constexpr int64_t COLS = int64_t(SLICE) * BLOCKS;
constexpr int WARPS = THREADS / 32;
constexpr int GROUPS = CHUNKS * PER;            // groups of four values that a thread has of a row
constexpr size_t RING_BYTES = size_t(SLOTS) * CHUNK * 4;
constexpr size_t SMEM_BYTES = RING_BYTES + 2 * WARPS * sizeof(double) + 16;
static_assert(CHUNKS == 8 && SLOTS == 14, "the schedule below is written for these");
static_assert(BLOCKS % 32 == 0 && WARPS <= 32, "");

// ---- helpers
__device__ __forceinline__ uint64_t evict_first_policy() {
  uint64_t p;
  asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(p));
  return p;
}
__device__ __forceinline__ void cp_async16(void* s, const void* g, uint64_t policy) {
  uint32_t a = uint32_t(__cvta_generic_to_shared(s));
  asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;" ::"r"(a), "l"(g), "l"(policy)
               : "memory");
}
__device__ __forceinline__ void cp_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N>
__device__ __forceinline__ void cp_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}
__device__ __forceinline__ float4 load_read_only(const float* p) {
  float4 v;
  asm volatile("ld.global.nc.L1::no_allocate.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
               : "l"(p));
  return v;
}
__device__ __forceinline__ void store_stream(float* p, float4 v) { __stcs(reinterpret_cast<float4*>(p), v); }
__device__ __forceinline__ void release_add(unsigned* p) {
  asm volatile("red.release.gpu.global.add.u32 [%0], %1;" ::"l"(p), "r"(1u) : "memory");
}
__device__ __forceinline__ unsigned load_acquire(const unsigned* p) {
  unsigned v;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  return v;
}
__device__ __forceinline__ double shfl_xor(double v, int m) { return __shfl_xor_sync(0xffffffffu, v, m); }
__device__ __forceinline__ void store_partial(double2* p, double2 v) { __stcg(p, v); }
__device__ __forceinline__ double2 load_partial(const double2* p) { return __ldcg(p); }
// ---- end helpers

// Adds four values, after k groups of four, to a running mean and sum of squared differences (Chan).
__device__ __forceinline__ void add4(float4 v, int k, float& mean, float& m2) {
  const float m = ((v.x + v.y) + (v.z + v.w)) * 0.25f;
  const float a = v.x - m, b = v.y - m, c = v.z - m, d = v.w - m;
  const float q = (a * a + b * b) + (c * c + d * d);
  const float delta = m - mean;
  mean = fmaf(delta, 1.0f / float(k + 1), mean);
  m2 += fmaf(delta * delta, 4.0f * float(k) / float(k + 1), q);
}

// The block's sums of a row, to all other blocks.
__device__ __forceinline__ void publish(float mean, float m2, double* red, double2* partial, unsigned* counter) {
  const double n = 4.0 * GROUPS;
  double s = n * double(mean);
  double q = double(m2) + n * double(mean) * double(mean);
#pragma unroll
  for (int m = 16; m > 0; m >>= 1) {
    s += shfl_xor(s, m);
    q += shfl_xor(q, m);
  }
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  if (lane == 0) {
    red[warp] = s;
    red[WARPS + warp] = q;
  }
  __syncthreads();
  if (warp == 0) {
    s = lane < WARPS ? red[lane] : 0.0;
    q = lane < WARPS ? red[WARPS + lane] : 0.0;
#pragma unroll
    for (int m = 16; m > 0; m >>= 1) {
      s += shfl_xor(s, m);
      q += shfl_xor(q, m);
    }
    if (lane == 0) {
      store_partial(partial + blockIdx.x, make_double2(s, q));
      release_add(counter);
    }
  }
}

// Waits for the sums of all blocks; {mean rounded, 1/sqrt(var+eps), -(rest of the mean)/sqrt(var+eps)} to coef.
__device__ __forceinline__ void collect(float* coef, const double2* partial, const unsigned* counter) {
  if ((threadIdx.x >> 5) == 0) {
    const int lane = threadIdx.x & 31;
    while (load_acquire(counter) < unsigned(BLOCKS)) {
    }
    double s = 0.0, q = 0.0;
#pragma unroll
    for (int j = 0; j < BLOCKS / 32; ++j) {
      const double2 v = load_partial(partial + j * 32 + lane);
      s += v.x;
      q += v.y;
    }
#pragma unroll
    for (int m = 16; m > 0; m >>= 1) {
      s += shfl_xor(s, m);
      q += shfl_xor(q, m);
    }
    if (lane == 0) {
      const double mean = s / double(COLS);
      double var = q / double(COLS) - mean * mean;
      var = var > 0.0 ? var : 0.0;
      const double rstd = 1.0 / sqrt(var + 1e-5);
      const float hi = float(mean);
      coef[0] = hi;
      coef[1] = float(rstd);
      coef[2] = float(-(mean - double(hi)) * rstd);
    }
  }
  __syncthreads();
}

__global__ void __launch_bounds__(THREADS, 1)
layer_norm(const float* __restrict__ x, const float* __restrict__ weight, const float* __restrict__ bias,
           float* __restrict__ out, double2* partials, unsigned* counters) {
  extern __shared__ __align__(128) unsigned char smem[];
  const int t = threadIdx.x;
  // A thread's own cells of the ring: cell(slot, p). Nobody else touches them, so that no barrier is needed.
  float4* ring = reinterpret_cast<float4*>(smem) + t;
  double* red = reinterpret_cast<double*>(smem + RING_BYTES);
  float* coef = reinterpret_cast<float*>(smem + RING_BYTES + 2 * WARPS * sizeof(double));

  const int64_t column = int64_t(blockIdx.x) * SLICE + t * 4;
  const float* xb = x + column;
  const float* bb = bias + column;
  float* ob = out + column;
  const uint64_t policy = evict_first_policy();

#pragma unroll
  for (int g = 0; g < SLOTS; ++g) {
    const float* src = xb + int64_t(g / CHUNKS) * COLS + (g % CHUNKS) * CHUNK;
#pragma unroll
    for (int p = 0; p < PER; ++p) cp_async16(ring + (g * PER + p) * THREADS, src + p * THREADS * 4, policy);
    cp_commit();
  }

  float4 w[CHUNKS][PER];
#pragma unroll
  for (int c = 0; c < CHUNKS; ++c)
#pragma unroll
    for (int p = 0; p < PER; ++p) w[c][p] = load_read_only(weight + column + c * CHUNK + p * THREADS * 4);
  float4 next_bias[PER];
#pragma unroll
  for (int p = 0; p < PER; ++p) next_bias[p] = load_read_only(bb + p * THREADS * 4);

  float mean = 0.0f, m2 = 0.0f;
#define KP_FIRST(c)                                                                      \
  cp_wait<SLOTS - 1 - (c)>();                                                            \
  _Pragma("unroll") for (int p = 0; p < PER; ++p)                                        \
      add4(ring[((c) * PER + p) * THREADS], (c) * PER + p, mean, m2);
  KP_FIRST(0)
  KP_FIRST(1)
  KP_FIRST(2)
  KP_FIRST(3)
  KP_FIRST(4)
  KP_FIRST(5)
  KP_FIRST(6)
  KP_FIRST(7)
#undef KP_FIRST
  publish(mean, m2, red, partials, counters);
  collect(coef, partials, counters);

  int first = 0;  // the slot of the row's first chunk: 8 r mod 14
#pragma unroll 1
  for (int r = 0; r < ROWS; ++r) {
    const float center = coef[0], scale = coef[1], shift = coef[2];
    mean = 0.0f;
    m2 = 0.0f;
    float* orow = ob + int64_t(r) * COLS;
#pragma unroll
    for (int c = 0; c < CHUNKS; ++c) {
      int slot = first + c;
      slot = slot >= SLOTS ? slot - SLOTS : slot;
      float4* cell = ring + slot * (PER * THREADS);
      float4 b[PER];
#pragma unroll
      for (int p = 0; p < PER; ++p) {
        b[p] = next_bias[p];
        next_bias[p] = load_read_only(bb + ((c + 1) % CHUNKS) * CHUNK + p * THREADS * 4);
      }
#pragma unroll
      for (int p = 0; p < PER; ++p) {
        float4 v = cell[p * THREADS];
        v.x = fmaf(fmaf(v.x - center, scale, shift), w[c][p].x, b[p].x);
        v.y = fmaf(fmaf(v.y - center, scale, shift), w[c][p].y, b[p].y);
        v.z = fmaf(fmaf(v.z - center, scale, shift), w[c][p].z, b[p].z);
        v.w = fmaf(fmaf(v.w - center, scale, shift), w[c][p].w, b[p].w);
        store_stream(orow + c * CHUNK + p * THREADS * 4, v);
      }
      // The slot is free: chunk 8 r + c + 14 takes it. One group a step, an empty one at the end.
      const int row = r + (c + SLOTS) / CHUNKS;
      if (row < ROWS) {
        const float* src = xb + int64_t(row) * COLS + ((c + SLOTS) % CHUNKS) * CHUNK;
#pragma unroll
        for (int p = 0; p < PER; ++p) cp_async16(cell + p * THREADS, src + p * THREADS * 4, policy);
      }
      cp_commit();
      // Statistics of the next row: chunks 0,1 | 2,3 | 4 | 5 | 6 | 7 in steps 0..5. After the commit of step c
      // at most 4 groups may be open for chunk 8 (r+1) + c + 2 to be there.
      if (c < 6 && r + 1 < ROWS) {
        cp_wait<4>();
        const int from = c < 2 ? 2 * c : c + 2, to = c < 2 ? 2 * c + 2 : c + 3;
#pragma unroll
        for (int j = from; j < to; ++j) {
          int s = first + CHUNKS + j;
          s = s >= SLOTS ? s - SLOTS : s;
#pragma unroll
          for (int p = 0; p < PER; ++p) add4(ring[(s * PER + p) * THREADS], j * PER + p, mean, m2);
        }
        if (c == 5) publish(mean, m2, red, partials + (r + 1) * BLOCKS, counters + (r + 1));
      }
    }
    if (r + 1 < ROWS) collect(coef, partials + (r + 1) * BLOCKS, counters + (r + 1));
    first += CHUNKS;
    first = first >= SLOTS ? first - SLOTS : first;
  }
}

constexpr size_t PARTIAL_BYTES = size_t(ROWS) * BLOCKS * sizeof(double2);
constexpr size_t COUNTER_BYTES = ROWS * sizeof(unsigned);

}  // namespace

extern "C" KP_EXPORT size_t kp_workspace(const kp_context*, const kp_tensor*, int32_t) {
  return PARTIAL_BYTES + COUNTER_BYTES;
}

extern "C" KP_EXPORT int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  cudaStream_t stream = static_cast<cudaStream_t>(context->stream);
  const float* x = static_cast<const float*>(tensors[0].data);
  const float* weight = static_cast<const float*>(tensors[1].data);
  const float* bias = static_cast<const float*>(tensors[2].data);
  float* out = static_cast<float*>(tensors[3].data);
  double2* partials = static_cast<double2*>(context->workspace);
  unsigned* counters = reinterpret_cast<unsigned*>(static_cast<char*>(context->workspace) + PARTIAL_BYTES);
  if (cudaFuncSetAttribute(layer_norm, cudaFuncAttributeMaxDynamicSharedMemorySize, int(SMEM_BYTES)) != cudaSuccess)
    return 1;
  if (cudaMemsetAsync(counters, 0, COUNTER_BYTES, stream) != cudaSuccess) return 1;
  void* arguments[] = {&x, &weight, &bias, &out, &partials, &counters};
  if (cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(layer_norm), dim3(BLOCKS), dim3(THREADS), arguments,
                                  SMEM_BYTES, stream) != cudaSuccess)
    return 1;
  return cudaGetLastError() != cudaSuccess;
}
