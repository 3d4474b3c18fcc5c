// Occupancy limiter: shared memory, registers or the size of blocks leave too few warps to hide
// the latency of memory.
#include "defects.cuh"

namespace defects {
namespace {

constexpr char kTool[] = "occupancy_limiter";

// ---- sums of rows, with shared memory asked for and not used ----

constexpr int kRows = 8192;
constexpr int kColumns = 8192;

template <int UNROLL>
__global__ void row_sums(float* y, const float4* x) {
  const float4* row = x + static_cast<std::size_t>(blockIdx.x) * (kColumns / 4);
  float sum = 0;
#pragma unroll UNROLL
  for (int i = threadIdx.x; i < kColumns / 4; i += 256) {
    const float4 word = row[i];
    sum += (word.x + word.y) + (word.z + word.w);
  }
  sum = block_sum(sum);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}

template <int UNROLL>
Prepare row_sums_case(int shared_bytes) {
  return [shared_bytes](Pool& pool) -> Work {
    auto* x = pool.random<float>(std::size_t{kRows} * kColumns);
    auto* y = pool.take<float>(kRows);
    allow_shared(row_sums<UNROLL>, shared_bytes);
    return {[=] {
              row_sums<UNROLL><<<kRows, 256, shared_bytes>>>(y, reinterpret_cast<const float4*>(x));
            },
            output(y, kRows, 1e-4)};
  };
}

// ---- chains of chunks: the next chunk is known when the one before has been read ----

constexpr std::uint32_t kChunks = 1u << 19;  // of 512 bytes
constexpr int kLinks = 16;
constexpr std::uint32_t kChains = kChunks / kLinks;  // one warp each

__global__ void lay_out_links(std::uint32_t* next) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  next[i] = (i * 0x9e3779b1u + 77u) % kChunks;
}

template <class Word>
__device__ float sum_of(Word word);
template <>
__device__ float sum_of<float4>(float4 word) {
  return (word.x + word.y) + (word.z + word.w);
}
template <>
__device__ float sum_of<Pack<__half, 8>>(Pack<__half, 8> word) {
  float sum = 0;
#pragma unroll
  for (int j = 0; j < 8; ++j) sum += to_float(word.v[j]);
  return sum;
}

template <class Word>
__device__ float chain_sum(const Word* chunks, const std::uint32_t* next, std::uint32_t chain,
                           int lane) {
  std::uint32_t at = chain * kLinks;
  float sum = 0;
#pragma unroll 1
  for (int link = 0; link < kLinks; ++link) {
    sum += sum_of<Word>(chunks[at * 32 + lane]);
    at = next[at];
  }
  return sum;
}

constexpr int kHeld = 192;

// Of kHeld values that a thread needs at the end, the first EARLY are taken before the chain and
// kept in registers.
template <int EARLY>
__global__ void __launch_bounds__(256)
    chains_holding(float* y, const float4* chunks, const std::uint32_t* next, const float* held) {
  const int lane = threadIdx.x % 32;
  const std::uint32_t chain = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  float kept[EARLY == 0 ? 1 : EARLY];
#pragma unroll
  for (int h = 0; h < EARLY; ++h) {
    kept[h] = held[h * 32 + lane];
    asm volatile("" : "+f"(kept[h]));
  }
  const float sum = chain_sum(chunks, next, chain, lane);
  float total = 0;
#pragma unroll
  for (int h = 0; h < kHeld; ++h) {
    const float factor = h < EARLY ? kept[h] : held[h * 32 + lane];
    total = fmaf(total, 0.5f, factor * sum);
  }
  y[chain * 32 + lane] = total;
}

template <int EARLY>
Prepare holding_case(int threads) {
  return [threads](Pool& pool) -> Work {
    auto* chunks = pool.random<float>(std::size_t{kChunks} * 128);
    auto* held = pool.random<float>(kHeld * 32);
    auto* next = pool.take<std::uint32_t>(kChunks);
    auto* y = pool.take<float>(kChains * 32);
    lay_out_links<<<kChunks / 256, 256>>>(next);
    return {[=] {
              chains_holding<EARLY><<<kChains * 32 / threads, threads>>>(
                  y, reinterpret_cast<const float4*>(chunks), next, held);
            },
            output(y, kChains * 32, 1e-4)};
  };
}

__global__ void chains(float* y, const Pack<__half, 8>* chunks, const std::uint32_t* next) {
  const int lane = threadIdx.x % 32;
  const std::uint32_t chain = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  const float sum = warp_sum(chain_sum(chunks, next, chain, lane));
  if (lane == 0) y[chain] = sum;
}

// Blocks of one warp: at most 32 of them on a multiprocessor, fewer with shared memory.
Prepare chains_case(int threads, int shared_bytes) {
  return [threads, shared_bytes](Pool& pool) -> Work {
    auto* chunks = pool.random<__half>(std::size_t{kChunks} * 256);
    auto* next = pool.take<std::uint32_t>(kChunks);
    auto* y = pool.take<float>(kChains);
    lay_out_links<<<kChunks / 256, 256>>>(next);
    return {[=] {
              chains<<<kChains * 32 / threads, threads, shared_bytes>>>(
                  y, reinterpret_cast<const Pack<__half, 8>*>(chunks), next);
            },
            output(y, kChains, 1e-4)};
  };
}

// ---- softmax of rows held in shared memory, more of it asked for than a row needs ----

constexpr int kSoftRows = 16384;
constexpr int kSoftColumns = 4096;

__device__ float block_reduce(float value, bool maximum, float* partial) {
  value = maximum ? warp_max(value) : warp_sum(value);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = value;
  __syncthreads();
  value = partial[threadIdx.x % 8];
  for (int step = 4; step > 0; step /= 2) {
    const float other = __shfl_xor_sync(~0u, value, step);
    value = maximum ? fmaxf(value, other) : value + other;
  }
  return value;
}

__global__ void __launch_bounds__(256) softmax(__half* y, const __half* x) {
  extern __shared__ __align__(16) unsigned char memory[];
  __shared__ float partial[2][8];
  using Word = Pack<__half, 8>;
  constexpr int words = kSoftColumns / 8;
  auto* row = reinterpret_cast<Word*>(memory);
  const auto* from = reinterpret_cast<const Word*>(x) + std::size_t{blockIdx.x} * words;
  auto* to = reinterpret_cast<Word*>(y) + std::size_t{blockIdx.x} * words;
  float largest = -1e30f;
#pragma unroll
  for (int i = threadIdx.x; i < words; i += 256) {
    const Word word = from[i];
    row[i] = word;
#pragma unroll
    for (int j = 0; j < 8; ++j) largest = fmaxf(largest, to_float(word.v[j]));
  }
  largest = block_reduce(largest, true, partial[0]);
  float sum = 0;
#pragma unroll
  for (int i = threadIdx.x; i < words; i += 256) {
    const Word word = row[i];
#pragma unroll
    for (int j = 0; j < 8; ++j) sum += __expf(to_float(word.v[j]) - largest);
  }
  const float scale = 1.0f / block_reduce(sum, false, partial[1]);
#pragma unroll
  for (int i = threadIdx.x; i < words; i += 256) {
    Word word = row[i];
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      from_float(word.v[j], __expf(to_float(word.v[j]) - largest) * scale);
    }
    to[i] = word;
  }
}

Prepare softmax_case(int shared_bytes) {
  return [shared_bytes](Pool& pool) -> Work {
    constexpr std::size_t count = std::size_t{kSoftRows} * kSoftColumns;
    auto* x = pool.random<__half>(count);
    auto* y = pool.take<__half>(count);
    allow_shared(softmax, shared_bytes);
    return {[=] { softmax<<<kSoftRows, 256, shared_bytes>>>(y, x); }, output(y, count, 1e-3)};
  };
}

// ---- tempting: few warps, each with much arithmetic of its own at once ----

constexpr std::uint32_t kIndependent = 8;
constexpr std::uint32_t kFmaThreads = kMultiprocessors * 2048;

__global__ void independent_chains(float* y, const float* x) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  float value[kIndependent];
#pragma unroll
  for (int k = 0; k < kIndependent; ++k) value[k] = x[k * kFmaThreads + i];
#pragma unroll 4
  for (int step = 0; step < 2048; ++step) {
#pragma unroll
    for (int k = 0; k < kIndependent; ++k) value[k] = fmaf(value[k], 0.999f, 0.001f);
  }
  float sum = 0;
#pragma unroll
  for (int k = 0; k < kIndependent; ++k) sum += value[k];
  y[i] = sum;
}

Prepare independent_case(int shared_bytes) {
  return [shared_bytes](Pool& pool) -> Work {
    auto* x = pool.random<float>(kIndependent * kFmaThreads);
    auto* y = pool.take<float>(kFmaThreads);
    allow_shared(independent_chains, shared_bytes);
    return {[=] { independent_chains<<<kFmaThreads / 256, 256, shared_bytes>>>(y, x); },
            output(y, kFmaThreads)};
  };
}

}  // namespace

void add_occupancy_limiter(Cases& cases) {
  const std::vector<std::string> also = {"long_scoreboard"};
  Shape sums(cases, kTool, "row_sums_f32", "f32", 1.0 * kRows * kColumns, 4.0 * kRows * kColumns,
             {"dram"});
  sums.clean("shared0", row_sums_case<1>(0));
  sums.clean("shared24k", row_sums_case<1>(24 << 10));
  sums.defect("shared100k", 0.5, row_sums_case<1>(100 << 10)).with(also).in({"latency"});
  sums.defect("shared200k", 1, row_sums_case<1>(200 << 10)).with(also).in({"latency"});

  Shape holding(cases, kTool, "chains_f32", "f32", 128.0 * kChunks, 512.0 * kChunks,
                {"dram", "latency"});
  holding.clean("late", holding_case<0>(256));
  holding.clean("late_threads128", holding_case<0>(128));
  holding.defect("early96", 0.6, holding_case<96>(256)).with(also).in({"latency"});
  holding.defect("early192", 1, holding_case<192>(256)).with(also).in({"latency"});

  Shape blocks(cases, kTool, "chains_f16", "f16", 256.0 * kChunks, 512.0 * kChunks,
               {"dram", "latency"});
  blocks.clean("threads256", chains_case(256, 0));
  blocks.clean("threads128", chains_case(128, 0));
  blocks.defect("threads32_shared14k", 0.5, chains_case(32, 14 << 10)).with(also).in({"latency"});
  blocks.defect("threads32_shared28k", 1, chains_case(32, 28 << 10)).with(also).in({"latency"});

  Shape soft(cases, kTool, "softmax_f16", "f16", 6.0 * kSoftRows * kSoftColumns,
             4.0 * kSoftRows * kSoftColumns, {"dram"});
  soft.clean("shared8k", softmax_case(8 << 10));
  soft.clean("shared16k", softmax_case(16 << 10));
  soft.defect("shared110k", 0.6, softmax_case(110 << 10)).with(also).in({"latency"});
  soft.defect("shared220k", 1, softmax_case(220 << 10)).with(also).in({"latency"});

  Shape unrolled(cases, kTool, "row_sums_unrolled_f32", "f32", 1.0 * kRows * kColumns,
                 4.0 * kRows * kColumns, {"dram"});
  unrolled.clean("shared0", row_sums_case<8>(0));
  unrolled.tempting("shared56k", row_sums_case<8>(56 << 10));

  Shape independent(cases, kTool, "independent_f32", "f32", 4096.0 * kIndependent * kFmaThreads,
                    4.0 * kIndependent * kFmaThreads, {"alu"});
  independent.clean("shared0", independent_case(0));
  independent.tempting("shared100k", independent_case(100 << 10));
}

}  // namespace defects
