// kp:compiler nvcc
// kp:options -O3 -std=c++17
//
// BatchNorm (batch statistics) + ReLU + 1x1 convolution + 2x2 mean in two passes over the input.
// The mean is taken before the convolution (both are linear): a quarter of the products. They run on tensor cores
// as tf32 hi/lo splits in three products, which keeps f32 accuracy; the fragments come straight from the loads.
#include <cuda_runtime.h>
#include <stdint.h>

#include "kernelpro/candidate.h"

namespace {

// kp:tune ROWS = 2 4 8
constexpr int ROWS = 4;  // output rows of a task
// kp:tune BLOCKS_PER_SM = 2 3 4
constexpr int BLOCKS_PER_SM = 3;
// kp:tune KEEP_IMAGES = 0 4 6
constexpr int KEEP_IMAGES = 4;  // last images of the first pass, to be found in L2 by the second

constexpr int N = 128;
constexpr int C = 32, OC = 64, H = 256, W = 256;
constexpr int PLANE = H * W;
constexpr int OH = H / 2, OW = W / 2;

constexpr int STAT_THREADS = 256;
constexpr int STAT_FLOATS = PLANE / 2;  // of a block
constexpr int STAT_BLOCKS = N * C * 2;
constexpr int PARTS = N * 2;            // partial sums of a channel

constexpr int THREADS = 128;
constexpr int SEGMENTS = OW / 16;       // 16 pooled pixels a warp
constexpr int GROUPS = OH / ROWS;
constexpr int TASKS = N * GROUPS * SEGMENTS;
static_assert(OH % ROWS == 0 && ROWS >= 2, "tasks");

// Workspace: partial sums, then the channels' parameters, then the task counter.
constexpr size_t PARAM_AT = sizeof(double2) * C * PARTS;
constexpr size_t COUNTER_AT = PARAM_AT + sizeof(float4) * C;
constexpr size_t WORKSPACE = COUNTER_AT + 64;

__device__ __forceinline__ void mma_tf32(float (&c)[4], uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3,
                                         uint32_t b0, uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

__device__ __forceinline__ uint32_t to_tf32(float x) {
  uint32_t r;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(x));
  return r;
}

__device__ __forceinline__ void split_tf32(float x, uint32_t& hi, uint32_t& lo) {
  hi = to_tf32(x);
  lo = to_tf32(x - __uint_as_float(hi));
}

__device__ __forceinline__ double warp_sum(double v) {
#pragma unroll
  for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(0xffffffffu, v, o);
  return v;
}

// Half a plane: sum and sum of squares. Differences from a pivot of the warp are added up in f32, so that a mean far
// from 0 costs no accuracy; the sums of x and x*x are formed in double.
__global__ void __launch_bounds__(STAT_THREADS)
statistics(const float* __restrict__ x, double2* __restrict__ parts) {
  const int tid = threadIdx.x, lane = tid & 31, warp = tid >> 5;
  const int block = blockIdx.x;
  const float4* p = reinterpret_cast<const float4*>(x + static_cast<size_t>(block) * STAT_FLOATS) + tid;
  constexpr int BATCH = 8, LOADS = STAT_FLOATS / 4 / STAT_THREADS;
  static_assert(LOADS % BATCH == 0, "whole batches");
  const bool keep = block >= STAT_BLOCKS - KEEP_IMAGES * C * 2;
  float pivot = 0.0f;
  float4 s = make_float4(0.0f, 0.0f, 0.0f, 0.0f), q = s;
#pragma unroll
  for (int b = 0; b < LOADS / BATCH; b++) {
    float4 v[BATCH];
    if (keep) {
#pragma unroll
      for (int i = 0; i < BATCH; i++) v[i] = __ldg(p + (b * BATCH + i) * STAT_THREADS);
    } else {
#pragma unroll
      for (int i = 0; i < BATCH; i++) v[i] = __ldcs(p + (b * BATCH + i) * STAT_THREADS);
    }
    if (b == 0) {
      pivot = (v[0].x + v[0].y) + (v[0].z + v[0].w);
#pragma unroll
      for (int o = 16; o > 0; o >>= 1) pivot += __shfl_xor_sync(0xffffffffu, pivot, o);
      pivot *= 1.0f / 128.0f;
    }
#pragma unroll
    for (int i = 0; i < BATCH; i++) {
      const float dx = v[i].x - pivot, dy = v[i].y - pivot, dz = v[i].z - pivot, dw = v[i].w - pivot;
      s.x += dx;
      s.y += dy;
      s.z += dz;
      s.w += dw;
      q.x = fmaf(dx, dx, q.x);
      q.y = fmaf(dy, dy, q.y);
      q.z = fmaf(dz, dz, q.z);
      q.w = fmaf(dw, dw, q.w);
    }
  }
  double sum = (static_cast<double>(s.x) + s.y) + (static_cast<double>(s.z) + s.w);
  double squares = (static_cast<double>(q.x) + q.y) + (static_cast<double>(q.z) + q.w);
  sum = warp_sum(sum);
  squares = warp_sum(squares);
  __shared__ double2 shared[STAT_THREADS / 32];
  if (lane == 0) {
    const double n = STAT_FLOATS / (STAT_THREADS / 32), c = pivot;
    shared[warp] = make_double2(sum + n * c, squares + c * (2.0 * sum + n * c));
  }
  __syncthreads();
  if (tid == 0) {
    double2 total = shared[0];
#pragma unroll
    for (int i = 1; i < STAT_THREADS / 32; i++) {
      total.x += shared[i].x;
      total.y += shared[i].y;
    }
    const int plane = block >> 1;
    parts[(plane % C) * PARTS + (plane / C) * 2 + (block & 1)] = total;
  }
}

// One block per channel: mean, gamma / sqrt(var + eps), beta (with what rounding took from the mean).
__global__ void __launch_bounds__(256)
finish(const double2* __restrict__ parts, const float* __restrict__ gamma, const float* __restrict__ beta,
       float4* __restrict__ param, int* __restrict__ counter) {
  const int tid = threadIdx.x, c = blockIdx.x;
  double sum = 0.0, squares = 0.0;
  for (int i = tid; i < PARTS; i += 256) {
    const double2 v = parts[c * PARTS + i];
    sum += v.x;
    squares += v.y;
  }
  sum = warp_sum(sum);
  squares = warp_sum(squares);
  __shared__ double2 shared[8];
  if ((tid & 31) == 0) shared[tid >> 5] = make_double2(sum, squares);
  __syncthreads();
  if (tid == 0) {
    sum = squares = 0.0;
    for (int i = 0; i < 8; i++) {
      sum += shared[i].x;
      squares += shared[i].y;
    }
    const double n = static_cast<double>(N) * PLANE;
    const double mean = sum / n;
    double var = squares / n - mean * mean;
    if (var < 0.0) var = 0.0;
    const double a = static_cast<double>(gamma[c]) / sqrt(var + 1e-5);
    const float m = static_cast<float>(mean);
    param[c] = make_float4(m, static_cast<float>(a), static_cast<float>(beta[c] - (mean - m) * a), 0.0f);
    if (c == 0) *counter = 0;
  }
}

// The last images come first: the first pass left them in L2.
__device__ __forceinline__ void place(int task, int& image, int& row, int& segment) {
  const int group = N * GROUPS - 1 - task / SEGMENTS;
  segment = task % SEGMENTS;
  image = group / GROUPS;
  row = (group % GROUPS) * ROWS;
}

// Two input rows, 4 columns, of the 8 channels of this thread: 8*kt + t and 8*kt + 4 + t.
__device__ __forceinline__ void load(const float* __restrict__ x, int task, int r, int g, int t, float4 (&raw)[16]) {
  int image, row, segment;
  place(task, image, row, segment);
  const float* p = x + static_cast<size_t>(image) * (C * PLANE) + t * PLANE + (row + r) * (2 * W) + segment * 32 + g * 4;
#pragma unroll
  for (int i = 0; i < 8; i++) {
    raw[2 * i] = __ldcs(reinterpret_cast<const float4*>(p + i * (4 * PLANE)));
    raw[2 * i + 1] = __ldcs(reinterpret_cast<const float4*>(p + i * (4 * PLANE) + W));
  }
}

__device__ __forceinline__ float act(float v, const float4& p) { return fmaxf(fmaf(v - p.x, p.y, p.z), 0.0f); }

__global__ void __launch_bounds__(THREADS, BLOCKS_PER_SM)
transition(const float* __restrict__ x, const float* __restrict__ weight, const float4* __restrict__ param,
           int* __restrict__ counter, float* __restrict__ out) {
  __shared__ uint4 fragment[2 * 16 * 32];  // hi, then lo: [m-tile][k-tile][lane]
  __shared__ float4 channel[C];
  const int tid = threadIdx.x, lane = tid & 31;
  const int g = lane >> 2, t = lane & 3;
  const int warps = gridDim.x * (THREADS / 32);
  int task = blockIdx.x * (THREADS / 32) + (tid >> 5);

  float4 raw[16];
  if (task < TASKS) load(x, task, 0, g, t, raw);

  if (tid < C) channel[tid] = param[tid];
  for (int i = tid; i < 16 * 32 * 4; i += THREADS) {
    const int a = i & 3, l = (i >> 2) & 31, tile = i >> 7;
    const int oc = (tile >> 2) * 16 + (l >> 2) + 8 * (a & 1), c = (tile & 3) * 8 + (l & 3) + 4 * (a >> 1);
    uint32_t hi, lo;
    split_tf32(weight[oc * C + c] * 0.25f, hi, lo);
    reinterpret_cast<uint32_t*>(fragment)[i] = hi;
    reinterpret_cast<uint32_t*>(fragment)[16 * 32 * 4 + i] = lo;
  }
  __syncthreads();

#pragma unroll 1
  while (task < TASKS) {
    int image, row, segment, next = TASKS;
    place(task, image, row, segment);
    if (lane == 0) next = warps + atomicAdd(counter, 1);
    float* o = out + ((static_cast<size_t>(image) * OC + g) * OH + row) * OW + segment * 16 + 4 * t;
#pragma unroll 1
    for (int r = 0; r < ROWS; r++) {
      // Tile j has pooled pixels 2g+j; slot (kt, b) is channel 8*kt + 4*b + t.
      uint32_t hi[8][2], lo[8][2];
#pragma unroll
      for (int i = 0; i < 8; i++) {
        const float4 p = channel[4 * i + t];
        const float4 u = raw[2 * i], v = raw[2 * i + 1];
        split_tf32((act(u.x, p) + act(u.y, p)) + (act(v.x, p) + act(v.y, p)), hi[i][0], lo[i][0]);
        split_tf32((act(u.z, p) + act(u.w, p)) + (act(v.z, p) + act(v.w, p)), hi[i][1], lo[i][1]);
      }
      // The next step's loads go into the registers that have just become free.
      if (r + 1 < ROWS) {
        load(x, task, r + 1, g, t, raw);
      } else {
        next = __shfl_sync(0xffffffffu, next, 0);
        if (next < TASKS) load(x, next, 0, g, t, raw);
      }
#pragma unroll
      for (int mt = 0; mt < 4; mt++) {
        float big[2][4], small[2][4];
#pragma unroll
        for (int i = 0; i < 4; i++) big[0][i] = big[1][i] = small[0][i] = small[1][i] = 0.0f;
#pragma unroll
        for (int kt = 0; kt < 4; kt++) {
          const uint4 ah = fragment[(mt * 4 + kt) * 32 + lane];
          const uint4 al = fragment[(16 + mt * 4 + kt) * 32 + lane];
#pragma unroll
          for (int j = 0; j < 2; j++) {
            mma_tf32(big[j], ah.x, ah.y, ah.z, ah.w, hi[2 * kt][j], hi[2 * kt + 1][j]);
            mma_tf32(small[j], ah.x, ah.y, ah.z, ah.w, lo[2 * kt][j], lo[2 * kt + 1][j]);
            mma_tf32(small[j], al.x, al.y, al.z, al.w, hi[2 * kt][j], hi[2 * kt + 1][j]);
          }
        }
        // Columns 2t and 2t+1 of the two tiles are pixels 4t, 4t+2 and 4t+1, 4t+3.
        const float4 y0 = make_float4(big[0][0] + small[0][0], big[1][0] + small[1][0], big[0][1] + small[0][1],
                                      big[1][1] + small[1][1]);
        const float4 y1 = make_float4(big[0][2] + small[0][2], big[1][2] + small[1][2], big[0][3] + small[0][3],
                                      big[1][3] + small[1][3]);
        float* q = o + mt * (16 * OH * OW) + r * OW;
        __stcs(reinterpret_cast<float4*>(q), y0);
        __stcs(reinterpret_cast<float4*>(q + 8 * OH * OW), y1);
      }
    }
    task = next;
  }
}

}  // namespace

extern "C" KP_EXPORT size_t kp_workspace(const kp_context*, const kp_tensor*, int32_t) { return WORKSPACE; }

extern "C" KP_EXPORT int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  if (count != 7 || context->workspace == nullptr || context->workspace_bytes < WORKSPACE) return 1;
  static int multiprocessors = 0;
  if (multiprocessors == 0 &&
      cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, context->device_id) != cudaSuccess)
    return 1;
  cudaStream_t stream = static_cast<cudaStream_t>(context->stream);
  const float* x = static_cast<const float*>(tensors[0].data);
  const float* gamma = static_cast<const float*>(tensors[1].data);
  const float* beta = static_cast<const float*>(tensors[2].data);
  const float* weight = static_cast<const float*>(tensors[3].data);
  char* space = static_cast<char*>(context->workspace);
  double2* parts = reinterpret_cast<double2*>(space);
  float4* param = reinterpret_cast<float4*>(space + PARAM_AT);
  int* counter = reinterpret_cast<int*>(space + COUNTER_AT);
  statistics<<<STAT_BLOCKS, STAT_THREADS, 0, stream>>>(x, parts);
  finish<<<C, 256, 0, stream>>>(parts, gamma, beta, param, counter);
  transition<<<multiprocessors * BLOCKS_PER_SM, THREADS, 0, stream>>>(x, weight, param, counter,
                                                                      static_cast<float*>(tensors[6].data));
  return cudaGetLastError() != cudaSuccess;
}
