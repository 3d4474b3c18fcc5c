// Bank conflicts: lanes of a warp meet in the same bank of shared memory.
#include "defects.cuh"
#include "gemm.cuh"

namespace defects {
namespace {

constexpr char kTool[] = "bank_conflicts";

// ---- transpose through a tile ----

constexpr int kSide = 8192;

// PAD floats after each row of the tile; -1: columns turned by the row instead.
template <int PAD>
__device__ int tile_place(int row, int column) {
  if (PAD < 0) return row * 32 + (column ^ row);
  return row * (32 + PAD) + column;
}

template <int PAD>
__global__ void transpose(float* y, const float* x) {
  __shared__ float tile[32 * (32 + (PAD < 0 ? 0 : PAD))];
  const int column = blockIdx.x * 32 + threadIdx.x;
  const int row = blockIdx.y * 32 + threadIdx.y;
#pragma unroll
  for (int k = 0; k < 32; k += 8) {
    tile[tile_place<PAD>(threadIdx.y + k, threadIdx.x)] = x[(row + k) * kSide + column];
  }
  __syncthreads();
  const int out_column = blockIdx.y * 32 + threadIdx.x;
  const int out_row = blockIdx.x * 32 + threadIdx.y;
#pragma unroll
  for (int k = 0; k < 32; k += 8) {
    y[(out_row + k) * kSide + out_column] = tile[tile_place<PAD>(threadIdx.x, threadIdx.y + k)];
  }
}

template <int PAD>
Work transpose_case(Pool& pool) {
  constexpr std::size_t count = std::size_t{kSide} * kSide;
  auto* x = pool.random<float>(count);
  auto* y = pool.take<float>(count);
  return {[=] { transpose<PAD><<<dim3(kSide / 32, kSide / 32), dim3(32, 8)>>>(y, x); },
          output(y, count, 0)};
}

// ---- a warp passes 8 values a lane around through shared memory, again and again ----

constexpr int kRounds = 64;
constexpr int kExchangeBlocks = kMultiprocessors * 8;

// Lanes write and read at a distance of PITCH. Volatile: one word a request, never a vector.
template <int PITCH>
__global__ void exchange(float* y, const float* x) {
  __shared__ float memory[8][32 * PITCH];
  volatile float* own = memory[threadIdx.x / 32];
  const int lane = threadIdx.x % 32;
  const int next = (lane + 1) % 32;
  const int base = blockIdx.x * 2048 + threadIdx.x / 32 * 256 + lane;
  float value[8];
#pragma unroll
  for (int j = 0; j < 8; ++j) value[j] = x[base + j * 32];
#pragma unroll 1
  for (int round = 0; round < kRounds; ++round) {
#pragma unroll
    for (int j = 0; j < 8; ++j) own[lane * PITCH + j] = value[j];
    __syncwarp();
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      value[j] = fmaf(value[j], 0.5f, 0.5f * own[next * PITCH + j]);
    }
    __syncwarp();
  }
#pragma unroll
  for (int j = 0; j < 8; ++j) y[base + j * 32] = value[j];
}

// The same with 16 bytes a lane: four wavefronts a request, and no conflict.
__global__ void exchange_wide(float4* y, const float4* x) {
  __shared__ float4 memory[8][64];
  float4* own = memory[threadIdx.x / 32];
  const int lane = threadIdx.x % 32;
  const int base = blockIdx.x * 512 + threadIdx.x / 32 * 64 + lane;
  float4 value[2] = {x[base], x[base + 32]};
#pragma unroll 1
  for (int round = 0; round < kRounds; ++round) {
    own[lane] = value[0];
    own[lane + 32] = value[1];
    __syncwarp();
#pragma unroll
    for (int j = 0; j < 2; ++j) {
      const float4 other = own[(j * 32 + lane) ^ 33];
      value[j].x = fmaf(value[j].x, 0.5f, 0.5f * other.x);
      value[j].y = fmaf(value[j].y, 0.5f, 0.5f * other.y);
      value[j].z = fmaf(value[j].z, 0.5f, 0.5f * other.z);
      value[j].w = fmaf(value[j].w, 0.5f, 0.5f * other.w);
    }
    __syncwarp();
  }
  y[base] = value[0];
  y[base + 32] = value[1];
}

template <int PITCH>
Work exchange_case(Pool& pool) {
  constexpr std::size_t count = std::size_t{kExchangeBlocks} * 2048 * 4;
  auto* x = pool.random<float>(count);
  auto* y = pool.take<float>(count);
  return {[=] { exchange<PITCH><<<kExchangeBlocks * 4, 256>>>(y, x); }, output(y, count)};
}

Work exchange_wide_case(Pool& pool) {
  constexpr std::size_t count = std::size_t{kExchangeBlocks} * 2048 * 4;
  auto* x = pool.random<float>(count);
  auto* y = pool.take<float>(count);
  return {[=] {
            exchange_wide<<<kExchangeBlocks * 4, 256>>>(reinterpret_cast<float4*>(y),
                                                        reinterpret_cast<const float4*>(x));
          },
          output(y, count)};
}

// ---- a histogram with counters of its own for each thread ----

constexpr std::size_t kBytes = 64 * kMiB;
constexpr int kBins = 32;
constexpr int kCountBlocks = kMultiprocessors * 8;

// Most bytes fall into one bin, so lanes meet where their counters share a bank.
__global__ void skew(std::uint8_t* x) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  x[i] = x[i] < 200 ? 7 : x[i] % kBins;
}

__device__ __forceinline__ void count_word(std::uint32_t* own, int bin_step, const uint4& word) {
  const std::uint32_t part[4] = {word.x, word.y, word.z, word.w};
#pragma unroll
  for (int j = 0; j < 16; ++j) own[(part[j / 4] >> (j % 4 * 8) & 255) * bin_step] += 1;
}

// PITCH: from one thread's counters to the next; 0: bins outside, threads inside. LOADS: words that
// a thread has under way at once.
template <int PITCH, int LOADS>
__global__ void __launch_bounds__(128) count_bytes(std::uint32_t* y, const uint4* x) {
  __shared__ std::uint32_t counter[128 * (PITCH == 0 ? kBins : PITCH)];
  constexpr int bin_step = PITCH == 0 ? 128 : 1;
  std::uint32_t* own = counter + threadIdx.x * (PITCH == 0 ? 1 : PITCH);
  for (int bin = 0; bin < kBins; ++bin) own[bin * bin_step] = 0;
  const std::uint32_t threads = gridDim.x * 128;
  std::uint32_t i = blockIdx.x * 128 + threadIdx.x;
  if constexpr (LOADS > 1) {
    for (; i + (LOADS - 1) * threads < kBytes / 16; i += LOADS * threads) {
      uint4 word[LOADS];
#pragma unroll
      for (int k = 0; k < LOADS; ++k) word[k] = x[i + k * threads];
#pragma unroll
      for (const uint4& each : word) count_word(own, bin_step, each);
    }
  }
  for (; i < kBytes / 16; i += threads) count_word(own, bin_step, x[i]);
  __syncthreads();
  const int lane = threadIdx.x % 32;
  for (int bin = threadIdx.x / 32; bin < kBins; bin += 4) {
    std::uint32_t sum = 0;
    for (int t = lane; t < 128; t += 32) {
      sum += counter[t * (PITCH == 0 ? 1 : PITCH) + bin * bin_step];
    }
    sum = warp_sum(sum);
    if (lane == 0) y[blockIdx.x * kBins + bin] = sum;
  }
}

template <int PITCH, int LOADS = 1>
Work count_case(Pool& pool) {
  auto* x = pool.random<std::uint8_t>(kBytes);
  auto* y = pool.take<std::uint32_t>(kCountBlocks * kBins);
  skew<<<kBytes / 256, 256>>>(x);
  return {[=] {
            count_bytes<PITCH, LOADS><<<kCountBlocks, 128>>>(y, reinterpret_cast<const uint4*>(x));
          },
          output(y, kCountBlocks * kBins, 0)};
}

// ---- a matrix product whose rows of the tile start in the same banks ----

template <int PAD_BYTES>
using ProductTile = MmaTile<128, 128, 2, 4, 128, PAD_BYTES, 2>;

}  // namespace

void add_bank_conflicts(Cases& cases) {
  Shape transpose(cases, kTool, "transpose_f32", "f32", 0, 8.0 * kSide * kSide, {"dram"});
  transpose.clean("pad1", transpose_case<1>);
  transpose.clean("turned", transpose_case<-1>);
  transpose.tempting("pad4", transpose_case<4>);
  transpose.defect("pad16", 0.5, transpose_case<16>).in({"l1", "dram"});
  transpose.defect("pad0", 1, transpose_case<0>).in({"l1"});

  const double exchanged = 8192.0 * kExchangeBlocks;
  Shape exchange(cases, kTool, "exchange_f32", "f32", 3.0 * exchanged * kRounds, 8.0 * exchanged,
                 {"l1"});
  exchange.clean("pitch9", exchange_case<9>);
  exchange.clean("pitch11", exchange_case<11>);
  exchange.defect("pitch10", 0.3, exchange_case<10>);
  exchange.defect("pitch8", 1, exchange_case<8>);

  Shape wide(cases, kTool, "exchange_f32x4", "f32", 3.0 * exchanged * kRounds, 8.0 * exchanged,
             {"l1"});
  wide.tempting("wide", exchange_wide_case);

  Shape count(cases, kTool, "count_u8", "u8", 1.0 * kBytes, 1.0 * kBytes, {"l1", "latency"});
  count.clean("bins_outside", count_case<0>);
  // Each bin on a bank of its own for each thread, but threads count different bins: they still
  // meet by chance, which costs half as much again.
  count.defect("pitch33", 0.3, count_case<33>).in({"l1"});
  count.defect("pitch40", 0.6, count_case<40>).in({"l1"});
  count.defect("pitch32", 1, count_case<32>).in({"l1"});
  count.clean("bins_outside_loads4", count_case<0, 4>);

  const Product size{4096, 4096, 2048};
  Shape product(cases, kTool, "product_f16", "f16", size.flops(), size.bytes(2),
                // With tiles of this size L2 is read at three quarters of what it can.
                {"tensor", "l1", "l2"});
  const std::vector<std::string> also = {"hmma_where_hgmma"};
  product.clean("pad16", mma_case<__half, ProductTile<16>>(size)).with(also);
  product.clean("pad48", mma_case<__half, ProductTile<48>>(size)).with(also);
  product.defect("pad64", 0.6, mma_case<__half, ProductTile<64>>(size)).with(also).in({"l1"});
  product.defect("pad0", 1, mma_case<__half, ProductTile<0>>(size)).with(also).in({"l1"});
}

}  // namespace defects
