// Barrier stalls: warps stand at barriers because they are many, or because one warp works while
// the others wait.
#include "defects.cuh"

namespace defects {
namespace {

constexpr char kTool[] = "barrier_stalls";

// ---- rounds of eight parts: done by all warps, or by some of them ----

constexpr int kRounds = 64;
constexpr int kPartSteps = 64;
constexpr int kRoundBlocks = kMultiprocessors * 8;

// Each round makes 8 x 32 values from those of the round before, WORKERS of 8 warps at work.
template <int WORKERS>
__global__ void __launch_bounds__(256) rounds(float* y, const float* x) {
  __shared__ float value[2][256];
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  value[0][threadIdx.x] = x[blockIdx.x * 256 + threadIdx.x];
  __syncthreads();
#pragma unroll 1
  for (int round = 0; round < kRounds; ++round) {
    const float* from = value[round % 2];
    float* to = value[(round + 1) % 2];
    if (warp < WORKERS) {
#pragma unroll 1
      for (int part = warp; part < 8; part += WORKERS) {
        const int i = part * 32 + lane;
        to[i] = 0.5f * fma_chain(from[(i + 37) % 256], kPartSteps) + 0.25f * from[i];
      }
    }
    __syncthreads();
  }
  y[blockIdx.x * 256 + threadIdx.x] = value[kRounds % 2][threadIdx.x];
}

// The same, a warp alone with all eight parts, and no barrier.
__global__ void __launch_bounds__(128) rounds_of_warps(float* y, const float* x) {
  __shared__ float value[4][2][256];
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const int base = (blockIdx.x * 4 + warp) * 256;
  for (int i = lane; i < 256; i += 32) value[warp][0][i] = x[base + i];
  __syncwarp();
#pragma unroll 1
  for (int round = 0; round < kRounds; ++round) {
    const float* from = value[warp][round % 2];
    float* to = value[warp][(round + 1) % 2];
#pragma unroll 4
    for (int i = lane; i < 256; i += 32) {
      to[i] = 0.5f * fma_chain(from[(i + 37) % 256], kPartSteps) + 0.25f * from[i];
    }
    __syncwarp();
  }
  for (int i = lane; i < 256; i += 32) y[base + i] = value[warp][kRounds % 2][i];
}

constexpr int kRoundTiles = kRoundBlocks * 8;

template <int WORKERS>
Work rounds_case(Pool& pool) {
  auto* x = pool.random<float>(kRoundTiles * 256);
  auto* y = pool.take<float>(kRoundTiles * 256);
  return {[=] { rounds<WORKERS><<<kRoundTiles, 256>>>(y, x); }, output(y, kRoundTiles * 256)};
}

Work rounds_of_warps_case(Pool& pool) {
  auto* x = pool.random<float>(kRoundTiles * 256);
  auto* y = pool.take<float>(kRoundTiles * 256);
  return {[=] { rounds_of_warps<<<kRoundTiles / 4, 128>>>(y, x); }, output(y, kRoundTiles * 256)};
}

// ---- vectors of 256 values, brought to length one in each round ----

constexpr int kNormRounds = 32;
constexpr int kNormSteps = 32;
constexpr int kVectors = kMultiprocessors * 8 * 4;

// The sum over the block, for all threads. SERIAL partial sums are added up by thread 0 alone while
// the others wait; 0: by shuffles, in every warp.
template <int SERIAL>
__device__ double sum_for_all(double value) {
  __shared__ double partial[SERIAL == 0 ? 8 : SERIAL];
  __shared__ double total;
  constexpr int group = SERIAL == 0 ? 32 : 256 / SERIAL;
#pragma unroll
  for (int step = group / 2; step > 0; step /= 2) value += __shfl_xor_sync(~0u, value, step);
  __syncthreads();
  if (threadIdx.x % group == 0) partial[threadIdx.x / group] = value;
  __syncthreads();
  if (SERIAL == 0) {
    value = partial[threadIdx.x % 8];
    for (int step = 4; step > 0; step /= 2) value += __shfl_xor_sync(~0u, value, step);
    return value;
  }
  if (threadIdx.x == 0) {
    double sum = 0;
    for (int i = 0; i < SERIAL; ++i) sum += partial[i];
    total = sum;
  }
  __syncthreads();
  return total;
}

template <int SERIAL>
__global__ void __launch_bounds__(256) unit_vectors(double* y, const double* x) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  double value = x[i];
#pragma unroll 1
  for (int round = 0; round < kNormRounds; ++round) {
#pragma unroll
    for (int step = 0; step < kNormSteps; ++step) value = fma(value, 0.875, 0.0625);
    value *= rsqrt(sum_for_all<SERIAL>(value * value));
  }
  y[i] = value;
}

// A warp has a vector alone, eight values a lane, and no barrier.
__global__ void __launch_bounds__(128) unit_vectors_of_warps(double* y, const double* x) {
  const int lane = threadIdx.x % 32;
  const int base = (blockIdx.x * 4 + threadIdx.x / 32) * 256 + lane;
  double value[8];
#pragma unroll
  for (int j = 0; j < 8; ++j) value[j] = x[base + j * 32];
#pragma unroll 1
  for (int round = 0; round < kNormRounds; ++round) {
    double sum = 0;
#pragma unroll
    for (int j = 0; j < 8; ++j) {
#pragma unroll
      for (int step = 0; step < kNormSteps; ++step) value[j] = fma(value[j], 0.875, 0.0625);
      sum = fma(value[j], value[j], sum);
    }
    const double scale = rsqrt(warp_sum(sum));
#pragma unroll
    for (int j = 0; j < 8; ++j) value[j] *= scale;
  }
#pragma unroll
  for (int j = 0; j < 8; ++j) y[base + j * 32] = value[j];
}

template <int SERIAL>
Work vectors_case(Pool& pool) {
  auto* x = pool.random<double>(kVectors * 256);
  auto* y = pool.take<double>(kVectors * 256);
  return {[=] { unit_vectors<SERIAL><<<kVectors, 256>>>(y, x); }, output(y, kVectors * 256, 1e-9)};
}

Work vectors_of_warps_case(Pool& pool) {
  auto* x = pool.random<double>(kVectors * 256);
  auto* y = pool.take<double>(kVectors * 256);
  return {[=] { unit_vectors_of_warps<<<kVectors / 4, 128>>>(y, x); },
          output(y, kVectors * 256, 1e-9)};
}

// ---- prefix sums of segments of 1024, eight times over ----

constexpr int kScans = 8;
constexpr int kSegment = 1024;
constexpr int kSegments = 1 << 14;

// One value a thread; two barriers for each of the ten doublings.
__global__ void __launch_bounds__(kSegment) scan_doubling(std::int32_t* y, const std::int32_t* x) {
  __shared__ std::int32_t value[kSegment];
  const int i = threadIdx.x;
  std::int32_t sum = x[blockIdx.x * kSegment + i];
#pragma unroll 1
  for (int scan = 0; scan < kScans; ++scan) {
#pragma unroll 1
    for (int step = 1; step < kSegment; step *= 2) {
      value[i] = sum;
      __syncthreads();
      if (i >= step) sum += value[i - step];
      __syncthreads();
    }
  }
  y[blockIdx.x * kSegment + i] = sum;
}

// Four values a thread; the doublings go over the sums of threads.
__global__ void __launch_bounds__(kSegment / 4) scan_doubling4(int4* y, const int4* x) {
  __shared__ std::int32_t total[kSegment / 4];
  const int i = threadIdx.x;
  int4 word = x[blockIdx.x * (kSegment / 4) + i];
#pragma unroll 1
  for (int scan = 0; scan < kScans; ++scan) {
    word.y += word.x;
    word.z += word.y;
    word.w += word.z;
    std::int32_t sum = word.w;
#pragma unroll 1
    for (int step = 1; step < kSegment / 4; step *= 2) {
      total[i] = sum;
      __syncthreads();
      if (i >= step) sum += total[i - step];
      __syncthreads();
    }
    const std::int32_t before = sum - word.w;
    word = {word.x + before, word.y + before, word.z + before, word.w + before};
  }
  y[blockIdx.x * (kSegment / 4) + i] = word;
}

// One warp a segment: eight rows of 128 values, sums of lanes by shuffle, no barrier.
template <int WARPS>
__global__ void __launch_bounds__(WARPS * 32) scan_warps(int4* y, const int4* x) {
  const int lane = threadIdx.x % 32;
  const int base = (blockIdx.x * WARPS + threadIdx.x / 32) * (kSegment / 4) + lane;
  int4 word[8];
#pragma unroll
  for (int r = 0; r < 8; ++r) word[r] = x[base + r * 32];
#pragma unroll 1
  for (int scan = 0; scan < kScans; ++scan) {
    std::int32_t before = 0;
    std::int32_t sum[8];
#pragma unroll
    for (int r = 0; r < 8; ++r) {
      word[r].y += word[r].x;
      word[r].z += word[r].y;
      word[r].w += word[r].z;
      sum[r] = word[r].w;
    }
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
#pragma unroll
      for (int r = 0; r < 8; ++r) {
        const std::int32_t other = __shfl_up_sync(~0u, sum[r], step);
        if (lane >= step) sum[r] += other;
      }
    }
#pragma unroll
    for (int r = 0; r < 8; ++r) {
      const std::int32_t own = before + sum[r] - word[r].w;
      before += __shfl_sync(~0u, sum[r], 31);
      word[r] = {word[r].x + own, word[r].y + own, word[r].z + own, word[r].w + own};
    }
  }
#pragma unroll
  for (int r = 0; r < 8; ++r) y[base + r * 32] = word[r];
}

Work scan_doubling_case(Pool& pool) {
  auto* x = pool.random<std::int32_t>(kSegments * kSegment);
  auto* y = pool.take<std::int32_t>(kSegments * kSegment);
  return {[=] { scan_doubling<<<kSegments, kSegment>>>(y, x); },
          output(y, kSegments * kSegment, 0)};
}

Work scan_doubling4_case(Pool& pool) {
  auto* x = pool.random<std::int32_t>(kSegments * kSegment);
  auto* y = pool.take<std::int32_t>(kSegments * kSegment);
  return {[=] {
            scan_doubling4<<<kSegments, kSegment / 4>>>(reinterpret_cast<int4*>(y),
                                                        reinterpret_cast<const int4*>(x));
          },
          output(y, kSegments * kSegment, 0)};
}

template <int WARPS>
Work scan_warps_case(Pool& pool) {
  auto* x = pool.random<std::int32_t>(kSegments * kSegment);
  auto* y = pool.take<std::int32_t>(kSegments * kSegment);
  return {[=] {
            scan_warps<WARPS><<<kSegments / WARPS, WARPS * 32>>>(reinterpret_cast<int4*>(y),
                                                                 reinterpret_cast<const int4*>(x));
          },
          output(y, kSegments * kSegment, 0)};
}

// ---- tiles brought to shared memory by some warps, used by all ----

constexpr int kTileWords = 1024;  // of 8 values
constexpr int kTiles = 16;
constexpr int kTileBlocks = kMultiprocessors * 8 * 4;

// LOADERS of the 256 threads bring each tile; every thread then adds up its part of it.
template <int LOADERS, int UNROLL>
__global__ void __launch_bounds__(256) tiles(float* y, const Pack<__nv_bfloat16, 8>* x) {
  __shared__ Pack<__nv_bfloat16, 8> tile[kTileWords];
  const auto* from = x + static_cast<std::size_t>(blockIdx.x) * kTiles * kTileWords;
  float sum = 0;
#pragma unroll 1
  for (int t = 0; t < kTiles; ++t) {
    if (threadIdx.x < LOADERS) {
#pragma unroll UNROLL
      for (int i = threadIdx.x; i < kTileWords; i += LOADERS) tile[i] = from[t * kTileWords + i];
    }
    __syncthreads();
#pragma unroll
    for (int i = threadIdx.x; i < kTileWords; i += 256) {
      const auto word = tile[i ^ 1];
#pragma unroll
      for (int j = 0; j < 8; ++j) sum = fmaf(sum, 0.75f, to_float(word.v[j]));
    }
    __syncthreads();
  }
  y[blockIdx.x * 256 + threadIdx.x] = sum;
}

// The same without shared memory: each thread takes its part itself.
__global__ void __launch_bounds__(256) tiles_direct(float* y, const Pack<__nv_bfloat16, 8>* x) {
  const auto* from = x + static_cast<std::size_t>(blockIdx.x) * kTiles * kTileWords;
  float sum = 0;
#pragma unroll 1
  for (int t = 0; t < kTiles; ++t) {
    Pack<__nv_bfloat16, 8> word[kTileWords / 256];
#pragma unroll
    for (int i = 0; i < kTileWords / 256; ++i) {
      word[i] = from[t * kTileWords + ((i * 256 + threadIdx.x) ^ 1)];
    }
#pragma unroll
    for (int i = 0; i < kTileWords / 256; ++i) {
#pragma unroll
      for (int j = 0; j < 8; ++j) sum = fmaf(sum, 0.75f, to_float(word[i].v[j]));
    }
  }
  y[blockIdx.x * 256 + threadIdx.x] = sum;
}

constexpr std::size_t kTileValues = std::size_t{kTileBlocks} * kTiles * kTileWords * 8;

template <int LOADERS, int UNROLL>
Work tiles_case(Pool& pool) {
  auto* x = pool.random<__nv_bfloat16>(kTileValues);
  auto* y = pool.take<float>(kTileBlocks * 256);
  return {[=] {
            tiles<LOADERS, UNROLL>
                <<<kTileBlocks, 256>>>(y, reinterpret_cast<const Pack<__nv_bfloat16, 8>*>(x));
          },
          output(y, kTileBlocks * 256)};
}

Work tiles_direct_case(Pool& pool) {
  auto* x = pool.random<__nv_bfloat16>(kTileValues);
  auto* y = pool.take<float>(kTileBlocks * 256);
  return {[=] {
            tiles_direct<<<kTileBlocks, 256>>>(y,
                                               reinterpret_cast<const Pack<__nv_bfloat16, 8>*>(x));
          },
          output(y, kTileBlocks * 256)};
}

// ---- tempting: many barriers between much and equal arithmetic ----

constexpr int kCalm = kMultiprocessors * 2048 * 2;

template <bool BARRIERS>
__global__ void __launch_bounds__(256) calm(float* y, const float* x) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  float value = x[i];
#pragma unroll 1
  for (int round = 0; round < 16; ++round) {
    value = fma_chain(value, 512);
    if (BARRIERS) __syncthreads();
  }
  y[i] = value;
}

template <bool BARRIERS>
Work calm_case(Pool& pool) {
  auto* x = pool.random<float>(kCalm);
  auto* y = pool.take<float>(kCalm);
  return {[=] { calm<BARRIERS><<<kCalm / 256, 256>>>(y, x); }, output(y, kCalm)};
}

// ---- tempting: a tree of barriers at the end of a long read ----

constexpr int kTreeRows = 8192;
constexpr int kTreeColumns = 8192;

template <bool TREE>
__global__ void __launch_bounds__(256) tree_sums(float* y, const float4* x) {
  __shared__ float part[256];
  const float4* row = x + static_cast<std::size_t>(blockIdx.x) * (kTreeColumns / 4);
  float sum = 0;
#pragma unroll
  for (int i = threadIdx.x; i < kTreeColumns / 4; i += 256) {
    const float4 word = row[i];
    sum += (word.x + word.y) + (word.z + word.w);
  }
  if (TREE) {
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int step = 128; step > 0; step /= 2) {
      if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
      __syncthreads();
    }
    sum = part[0];
  } else {
    sum = block_sum(sum);
  }
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}

template <bool TREE>
Work tree_case(Pool& pool) {
  auto* x = pool.random<float>(std::size_t{kTreeRows} * kTreeColumns);
  auto* y = pool.take<float>(kTreeRows);
  return {[=] { tree_sums<TREE><<<kTreeRows, 256>>>(y, reinterpret_cast<const float4*>(x)); },
          output(y, kTreeRows, 1e-4)};
}

}  // namespace

void add_barrier_stalls(Cases& cases) {
  const double parts = 256.0 * kRoundTiles;
  Shape rounds(cases, kTool, "rounds_f32", "f32", 2.0 * parts * kRounds * kPartSteps, 8.0 * parts,
               {"alu"});
  rounds.clean("warps_alone", rounds_of_warps_case);
  rounds.clean("workers8", rounds_case<8>);
  // The workers of eight blocks together come near the issue slots' limit.
  rounds.defect("workers2", 0.6, rounds_case<2>).in({"latency", "alu"});
  rounds.defect("workers1", 1, rounds_case<1>).in({"latency"});

  const double length = 256.0 * kVectors;
  Shape vectors(cases, kTool, "unit_vectors_f64", "f64", 2.0 * length * kNormRounds * kNormSteps,
                16.0 * length, {"alu"});
  vectors.clean("warps_alone", vectors_of_warps_case);
  vectors.clean("shuffles", vectors_case<0>);
  vectors.defect("serial128", 0.5, vectors_case<128>).in({"latency", "alu"});
  vectors.defect("serial256", 1, vectors_case<256>).in({"latency"});

  const double scanned = 1.0 * kSegments * kSegment;
  Shape scan(cases, kTool, "scan_i32", "i32", scanned * kScans, 8.0 * scanned,
             {"alu", "dram", "l1", "latency"});
  scan.clean("warps8", scan_warps_case<8>);
  scan.clean("warps4", scan_warps_case<4>);
  scan.defect("doubling_threads256", 0.6, scan_doubling4_case).in({"latency", "l1"});
  scan.defect("doubling_threads1024", 1, scan_doubling_case).in({"latency", "l1"});

  Shape tiles(cases, kTool, "tiles_bf16", "bf16", 2.0 * kTileValues, 2.0 * kTileValues, {"dram"});
  tiles.clean("direct", tiles_direct_case);
  tiles.clean("loaders256", tiles_case<256, 4>);
  tiles.defect("loaders32", 0.5, tiles_case<32, 4>)
      .with({"long_scoreboard"})
      .in({"latency", "dram"});
  tiles.defect("loaders32_unroll1", 1, tiles_case<32, 1>).with({"long_scoreboard"}).in({"latency"});

  Shape calm(cases, kTool, "calm_f32", "f32", 2.0 * 16 * 512 * kCalm, 8.0 * kCalm, {"alu"});
  calm.clean("none", calm_case<false>);
  calm.tempting("barriers16", calm_case<true>);

  Shape tree(cases, kTool, "tree_sums_f32", "f32", 1.0 * kTreeRows * kTreeColumns,
             4.0 * kTreeRows * kTreeColumns, {"dram"});
  tree.clean("shuffles", tree_case<false>);
  tree.tempting("tree", tree_case<true>);
}

}  // namespace defects
