// Repeated loads in more shapes: products with small factors, pictures with windows, and what is
// loaded again at no cost.
#include "defects.cuh"

namespace defects {
namespace {

constexpr char kTool[] = "repeated_loads";

// ---- bilateral differences: each value against those in the window around it ----

constexpr std::uint32_t kLine = 1u << 23;
constexpr int kWindow = 24;

// RESULTS neighbors a thread share what they load.
template <int RESULTS>
__global__ void __launch_bounds__(256) spreads(float* y, const float* x) {
  const std::uint32_t first = (blockIdx.x * 256 + threadIdx.x) * RESULTS;
  __align__(16) float value[RESULTS + kWindow];
#pragma unroll
  for (int k = 0; k < RESULTS + kWindow; k += RESULTS >= 4 ? 4 : 1) {
    if (RESULTS >= 4) {
      *reinterpret_cast<float4*>(value + k) = *reinterpret_cast<const float4*>(x + first + k);
    } else {
      value[k] = x[first + k];
    }
  }
#pragma unroll
  for (int r = 0; r < RESULTS; ++r) {
    float sum = 0;
#pragma unroll
    for (int k = 1; k < kWindow; ++k) sum += fabsf(value[r + k] - value[r]);
    y[first + r] = sum;
  }
}

template <int RESULTS>
Work spreads_case(Pool& pool) {
  auto* x = pool.random<float>(kLine + 1024);
  auto* y = pool.take<float>(kLine);
  return {[=] { spreads<RESULTS><<<kLine / (256 * RESULTS), 256>>>(y, x); },
          output(y, kLine, 1e-4)};
}

// ---- counts that a loop keeps in memory, because another pointer could be the same ----

constexpr std::uint32_t kCounted = kMultiprocessors * 2048 * 2;
constexpr int kRounds = 128;

// KEPT: in a register, stored once.
template <bool KEPT>
__global__ void __launch_bounds__(256) counts(float* y, float* largest, const float* x) {
  const std::uint32_t i = blockIdx.x * 256 + threadIdx.x;
  float value = x[i];
  float sum = 0;
  float most = 0;
  if (!KEPT) {
    y[i] = 0;
    largest[i] = 0;
  }
#pragma unroll 1
  for (int round = 0; round < kRounds; ++round) {
    value = fmaf(value, -0.75f, 0.125f);
    if (KEPT) {
      sum += value;
      most = fmaxf(most, value);
    } else {
      y[i] += value;
      largest[i] = fmaxf(largest[i], value);
    }
  }
  y[i] = KEPT ? sum + most : y[i] + largest[i];
}

template <bool KEPT>
Work counts_case(Pool& pool) {
  auto* x = pool.random<float>(kCounted);
  auto* y = pool.take<float>(kCounted);
  auto* largest = pool.take<float>(kCounted);
  return {[=] { counts<KEPT><<<kCounted / 256, 256>>>(y, largest, x); }, output(y, kCounted, 1e-4)};
}

// ---- tempting: a bias that all rows load again while they stream ----

constexpr std::uint32_t kRows = 32768;
constexpr std::uint32_t kWords = 1024;  // of four values, in a row

template <bool KEPT>
__global__ void __launch_bounds__(256)
    add_bias(float4* y, const float4* x, const float4* bias, const float4* scale) {
  const std::uint32_t column = blockIdx.y * 256 + threadIdx.x;
  float4 b = bias[column];
  float4 s = scale[column];
#pragma unroll 2
  for (std::uint32_t row = blockIdx.x * 8; row < blockIdx.x * 8 + 8; ++row) {
    if (!KEPT) {
      b = __ldca(bias + column + row / kRows);
      s = __ldca(scale + column + row / kRows);
    }
    const std::size_t at = std::size_t{row} * kWords + column;
    const float4 word = x[at];
    y[at] = {fmaf(word.x, s.x, b.x), fmaf(word.y, s.y, b.y), fmaf(word.z, s.z, b.z),
             fmaf(word.w, s.w, b.w)};
  }
}

template <bool KEPT>
Work bias_case(Pool& pool) {
  auto* x = pool.random<float>(std::size_t{kRows} * kWords * 4);
  auto* bias = pool.random<float>(kWords * 4 + 4);
  auto* scale = pool.random<float>(kWords * 4 + 4);
  auto* y = pool.take<float>(std::size_t{kRows} * kWords * 4);
  const auto words = [](float* data) { return reinterpret_cast<float4*>(data); };
  return {[=] {
            add_bias<KEPT><<<dim3(kRows / 8, kWords / 256), 256>>>(words(y), words(x), words(bias),
                                                                   words(scale));
          },
          output(y, std::size_t{kRows} * kWords * 4)};
}

}  // namespace

void add_repeated_loads_tiles(Cases& cases) {
  const std::vector<std::string> again = {"l1", "l2", "latency", "alu"};
  Shape spread(cases, kTool, "spreads_f32", "f32", 3.0 * kWindow * kLine, 8.0 * kLine,
               {"alu", "l1", "dram", "latency"});
  spread.clean("results8", spreads_case<8>).with({"uncoalesced_access"});
  spread.clean("results4", spreads_case<4>).with({"uncoalesced_access"});
  spread.defect("results1", 1, spreads_case<1>).in(again);

  Shape kept(cases, kTool, "counts_f32", "f32", 4.0 * kRounds * kCounted, 12.0 * kCounted,
             {"alu", "latency"});
  kept.clean("registers", counts_case<true>);
  kept.defect("memory", 1, counts_case<false>).with({"excess_traffic"}).in(again);

  const double values = 4.0 * kWords * kRows;
  Shape bias(cases, kTool, "add_bias_f32", "f32", 2 * values, 8 * values, {"dram"});
  bias.clean("kept", bias_case<true>);
  bias.tempting("each_row", bias_case<false>);
}

}  // namespace defects
