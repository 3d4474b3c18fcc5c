// Long scoreboard with too few loads in flight: each warp waits for one load before it asks for
// the next, and there are too few warps to fill the time.
//
// LOADS is the knob everywhere: how many independent 16-byte loads a thread has under way.
#include "defects.cuh"

namespace defects {
namespace {

constexpr char kTool[] = "long_scoreboard";

// ---- sums by a fixed grid of one block a multiprocessor ----

constexpr int kGrid = kMultiprocessors;
constexpr std::uint32_t kSumWords = kGrid * 256u * 32u * 15u;  // of 16 bytes, 259 MB

template <int LOADS>
__global__ void __launch_bounds__(256, 1) sum_halves(float* y, const Pack<__half, 8>* x) {
  constexpr std::uint32_t step = kGrid * 256;
  float sum[2] = {};
#pragma unroll 1
  for (std::uint32_t i = blockIdx.x * 256 + threadIdx.x; i < kSumWords; i += step * LOADS) {
    Pack<__half, 8> word[LOADS];
#pragma unroll
    for (int k = 0; k < LOADS; ++k) word[k] = x[i + k * step];
#pragma unroll
    for (int k = 0; k < LOADS; ++k) {
#pragma unroll
      for (int j = 0; j < 8; ++j) sum[j % 2] += to_float(word[k].v[j]);
    }
  }
  y[blockIdx.x * 256 + threadIdx.x] = sum[0] + sum[1];
}

template <int LOADS>
Work sum_case(Pool& pool) {
  auto* x = pool.random<__half>(std::size_t{kSumWords} * 8);
  auto* y = pool.take<float>(kGrid * 256);
  return {
      [=] { sum_halves<LOADS><<<kGrid, 256>>>(y, reinterpret_cast<const Pack<__half, 8>*>(x)); },
      output(y, kGrid * 256, 1e-3)};
}

// ---- dot products of doubles, weighted by a table that fills the shared memory ----

constexpr std::uint32_t kDotWords = kGrid * 128u * 48u * 20u;  // of 16 bytes, twice 259 MB
constexpr int kDotShared = 200 << 10;

template <int LOADS>
__global__ void __launch_bounds__(128, 1)
    dot_doubles(double* y, const double2* a, const double2* b, const double* table) {
  extern __shared__ __align__(16) double weight[];
#pragma unroll 10
  for (int i = threadIdx.x; i < kDotShared / 16; i += 128) {
    reinterpret_cast<double2*>(weight)[i] = reinterpret_cast<const double2*>(table)[i];
  }
  __syncthreads();
  constexpr std::uint32_t step = kGrid * 128;
  double sum = 0;
  std::uint32_t place = threadIdx.x;
#pragma unroll 1
  for (std::uint32_t i = blockIdx.x * 128 + threadIdx.x; i < kDotWords; i += step * LOADS) {
    double2 left[LOADS];
    double2 right[LOADS];
#pragma unroll
    for (int k = 0; k < LOADS; ++k) {
      left[k] = a[i + k * step];
      right[k] = b[i + k * step];
    }
#pragma unroll
    for (int k = 0; k < LOADS; ++k) {
      sum += (left[k].x * right[k].x + left[k].y * right[k].y) * weight[place];
      place += 128;
      if (place >= kDotShared / 8) place -= kDotShared / 8;
    }
  }
  y[blockIdx.x * 128 + threadIdx.x] = sum;
}

template <int LOADS>
Work dot_case(Pool& pool) {
  auto* a = pool.random<double>(std::size_t{kDotWords} * 2);
  auto* b = pool.random<double>(std::size_t{kDotWords} * 2);
  auto* table = pool.random<double>(kDotShared / 8);
  auto* y = pool.take<double>(kGrid * 128);
  allow_shared(dot_doubles<LOADS>, kDotShared);
  return {[=] {
            dot_doubles<LOADS><<<kGrid, 128, kDotShared>>>(
                y, reinterpret_cast<const double2*>(a), reinterpret_cast<const double2*>(b), table);
          },
          output(y, kGrid * 128, 1e-9)};
}

// ---- values looked up in a table that fills the shared memory ----

constexpr int kTable = 24 << 10;  // floats, 96 KiB
constexpr std::uint32_t kLookWords = kGrid * 2u * 128u * 16u * 30u;

template <int LOADS>
__global__ void __launch_bounds__(128, 2) look_up(float* y, const uint4* x, const float* table) {
  extern __shared__ __align__(16) float entry[];
#pragma unroll 8
  for (int i = threadIdx.x; i < kTable / 4; i += 128) {
    reinterpret_cast<float4*>(entry)[i] = reinterpret_cast<const float4*>(table)[i];
  }
  __syncthreads();
  constexpr std::uint32_t step = kGrid * 2 * 128;
  float sum = 0;
#pragma unroll 1
  for (std::uint32_t i = blockIdx.x * 128 + threadIdx.x; i < kLookWords; i += step * LOADS) {
    uint4 word[LOADS];
#pragma unroll
    for (int k = 0; k < LOADS; ++k) word[k] = x[i + k * step];
#pragma unroll
    for (int k = 0; k < LOADS; ++k) {
      const std::uint32_t key = (word[k].x ^ word[k].y) + (word[k].z ^ word[k].w);
      sum += entry[__umulhi(key, kTable / 32) * 32 + threadIdx.x % 32];
    }
  }
  y[blockIdx.x * 128 + threadIdx.x] = sum;
}

template <int LOADS>
Work look_up_case(Pool& pool) {
  auto* x = pool.random<std::uint32_t>(std::size_t{kLookWords} * 4);
  auto* table = pool.random<float>(kTable);
  auto* y = pool.take<float>(kGrid * 2 * 128);
  allow_shared(look_up<LOADS>, kTable * 4);
  return {[=] {
            look_up<LOADS>
                <<<kGrid * 2, 128, kTable * 4>>>(y, reinterpret_cast<const uint4*>(x), table);
          },
          output(y, kGrid * 2 * 128, 1e-3)};
}

// ---- lists of chunks: a warp follows LOADS lists at once, or one after the other ----

constexpr std::uint32_t kChunks = 1u << 19;  // of 512 bytes
constexpr int kLists = 16;                   // of a warp
constexpr int kWarps = kGrid * 8;
constexpr int kLinks = 30;

__global__ void lay_out_links(std::uint32_t* next) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  next[i] = (i * 0x9e3779b1u + 77u) % kChunks;
}

template <int LOADS>
__global__ void __launch_bounds__(128, 2)
    follow_lists(float* y, const float4* chunks, const std::uint32_t* next) {
  const int lane = threadIdx.x % 32;
  const std::uint32_t warp = blockIdx.x * 4 + threadIdx.x / 32;
  float sum = 0;
#pragma unroll 1
  for (int list = 0; list < kLists; list += LOADS) {
    std::uint32_t at[LOADS];
#pragma unroll
    for (int k = 0; k < LOADS; ++k) at[k] = (warp * kLists + list + k) * kLinks;
#pragma unroll 1
    for (int link = 0; link < kLinks; ++link) {
      float4 word[LOADS];
#pragma unroll
      for (int k = 0; k < LOADS; ++k) {
        word[k] = chunks[at[k] * 32 + lane];
        at[k] = next[at[k]];
      }
#pragma unroll
      for (int k = 0; k < LOADS; ++k) {
        sum += (word[k].x + word[k].y) + (word[k].z + word[k].w);
      }
    }
  }
  y[warp * 32 + lane] = sum;
}

template <int LOADS>
Work lists_case(Pool& pool) {
  auto* chunks = pool.random<float>(std::size_t{kChunks} * 128);
  auto* next = pool.take<std::uint32_t>(kChunks);
  auto* y = pool.take<float>(kWarps * 32);
  lay_out_links<<<kChunks / 256, 256>>>(next);
  return {[=] {
            follow_lists<LOADS>
                <<<kWarps / 4, 128>>>(y, reinterpret_cast<const float4*>(chunks), next);
          },
          output(y, kWarps * 32, 1e-3)};
}

// ---- tempting: every warp waits for its loads, but the memory is full ----

constexpr std::uint32_t kFull = 1u << 26;

template <int LOADS>
__global__ void __launch_bounds__(256) add_pairs(float4* y, const float4* a, const float4* b) {
  const std::uint32_t base = blockIdx.x * (256 * LOADS) + threadIdx.x;
  float4 left[LOADS];
  float4 right[LOADS];
#pragma unroll
  for (int k = 0; k < LOADS; ++k) {
    left[k] = a[base + k * 256];
    right[k] = b[base + k * 256];
  }
#pragma unroll
  for (int k = 0; k < LOADS; ++k) {
    y[base + k * 256] = {left[k].x + right[k].x, left[k].y + right[k].y, left[k].z + right[k].z,
                         left[k].w + right[k].w};
  }
}

template <int LOADS>
Work add_case(Pool& pool) {
  auto* a = pool.random<float>(kFull);
  auto* b = pool.random<float>(kFull);
  auto* y = pool.take<float>(kFull);
  return {[=] {
            add_pairs<LOADS><<<kFull / (1024 * LOADS), 256>>>(reinterpret_cast<float4*>(y),
                                                              reinterpret_cast<const float4*>(a),
                                                              reinterpret_cast<const float4*>(b));
          },
          output(y, kFull, 0)};
}

// ---- tempting: one load at a time, but many times as much arithmetic ----

constexpr std::uint32_t kChew = kMultiprocessors * 8u * 256u * 16u;

template <int LOADS>
__global__ void __launch_bounds__(256) chew(float* y, const float* x) {
  constexpr std::uint32_t step = kMultiprocessors * 8 * 256;
  float sum = 0;
#pragma unroll 1
  for (std::uint32_t i = blockIdx.x * 256 + threadIdx.x; i < kChew; i += step * LOADS) {
    float value[LOADS];
#pragma unroll
    for (int k = 0; k < LOADS; ++k) value[k] = x[i + k * step];
#pragma unroll
    for (int k = 0; k < LOADS; ++k) sum += fma_chain(value[k], 1024);
  }
  y[blockIdx.x * 256 + threadIdx.x] = sum;
}

template <int LOADS>
Work chew_case(Pool& pool) {
  auto* x = pool.random<float>(kChew);
  auto* y = pool.take<float>(kMultiprocessors * 8 * 256);
  return {[=] { chew<LOADS><<<kMultiprocessors * 8, 256>>>(y, x); },
          output(y, kMultiprocessors * 8 * 256, 1e-4)};
}

}  // namespace

void add_long_scoreboard(Cases& cases) {
  const std::vector<std::string> grid = {"block_shortage"};
  const std::vector<std::string> shared = {"occupancy_limiter"};
  Shape sum(cases, kTool, "sum_f16", "f16", 8.0 * kSumWords, 16.0 * kSumWords, {"dram"});
  sum.clean("loads16", sum_case<16>);
  sum.clean("loads32", sum_case<32>);
  sum.defect("loads2", 0.6, sum_case<2>).with(grid).in({"latency"});
  sum.defect("loads1", 1, sum_case<1>).with(grid).in({"latency"});

  Shape dot(cases, kTool, "dot_f64", "f64", 6.0 * kDotWords, 32.0 * kDotWords, {"dram"});
  dot.clean("loads16", dot_case<16>);
  dot.clean("loads12", dot_case<12>);
  dot.defect("loads2", 0.6, dot_case<2>).with(shared).in({"latency"});
  dot.defect("loads1", 1, dot_case<1>).with(shared).in({"latency"});

  Shape look(cases, kTool, "look_up_u32", "u32", 4.0 * kLookWords, 16.0 * kLookWords, {"dram"});
  look.clean("loads16", look_up_case<16>);
  look.clean("loads30", look_up_case<30>);
  look.defect("loads2", 0.6, look_up_case<2>).with(shared).in({"latency"});
  look.defect("loads1", 1, look_up_case<1>).with(shared).in({"latency"});

  const double links = 1.0 * kWarps * kLists * kLinks;
  Shape lists(cases, kTool, "lists_f32", "f32", 128.0 * links, 516.0 * links, {"dram"});
  lists.clean("loads16", lists_case<16>);
  lists.clean("loads8", lists_case<8>);
  lists.defect("loads2", 0.6, lists_case<2>).with(grid).in({"latency"});
  lists.defect("loads1", 1, lists_case<1>).with(grid).in({"latency"});

  Shape add(cases, kTool, "add_f32", "f32", 1.0 * kFull, 12.0 * kFull, {"dram"});
  add.clean("loads4", add_case<4>);
  add.tempting("loads1", add_case<1>);

  Shape chew(cases, kTool, "chew_f32", "f32", 2048.0 * kChew, 4.0 * kChew, {"alu"});
  chew.clean("loads4", chew_case<4>);
  chew.tempting("loads1", chew_case<1>);
}

}  // namespace defects
