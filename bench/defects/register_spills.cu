// Register spills and local arrays: values of a thread that live in local memory.
#include "defects.cuh"

namespace defects {
namespace {

constexpr char kTool[] = "register_spills";

// ---- a bank of 64 recursive filters a thread ----

constexpr int kFilters = 64;
constexpr int kSamples = 64;
constexpr std::uint32_t kChannels = kMultiprocessors * 24 * 256;  // whole waves at 3, 4, 8 blocks

// MIN_BLOCKS on a multiprocessor leave a thread 65536 / THREADS / MIN_BLOCKS registers.
template <int THREADS, int MIN_BLOCKS>
__global__ void __launch_bounds__(THREADS, MIN_BLOCKS) filter_bank(float* y, const float* x) {
  const std::uint32_t i = blockIdx.x * THREADS + threadIdx.x;
  float state[kFilters] = {};
#pragma unroll 4
  for (int t = 0; t < kSamples; ++t) {
    const float sample = x[t * kChannels + i];
#pragma unroll
    for (int f = 0; f < kFilters; ++f) {
      state[f] = fmaf(state[f], 0.25f + 0.01f * f, sample);
    }
  }
  float sum = 0;
#pragma unroll
  for (int f = 0; f < kFilters; ++f) sum = fmaf(state[f], 1.0f - 0.02f * f, sum);
  y[i] = sum;
}

template <int THREADS, int MIN_BLOCKS>
Work filter_case(Pool& pool) {
  auto* x = pool.random<float>(std::size_t{kSamples} * kChannels);
  auto* y = pool.take<float>(kChannels);
  return {[=] { filter_bank<THREADS, MIN_BLOCKS><<<kChannels / THREADS, THREADS>>>(y, x); },
          output(y, kChannels, 1e-4)};
}

// ---- the 32 largest of each column ----

constexpr int kKept = 32;
constexpr int kTopRows = 128;
constexpr std::uint32_t kTopColumns = kMultiprocessors * 12 * 128;

// Each value sinks through the sorted list. Only a fully unrolled list fits in registers.
template <int UNROLL, int MIN_BLOCKS>
__global__ void __launch_bounds__(128, MIN_BLOCKS) top_values(float* y, const float* x) {
  const std::uint32_t i = blockIdx.x * 128 + threadIdx.x;
  float kept[kKept];
#pragma unroll
  for (int j = 0; j < kKept; ++j) kept[j] = -2;
  for (int r = 0; r < kTopRows; r += 4) {
    float batch[4];
#pragma unroll
    for (int b = 0; b < 4; ++b) batch[b] = x[(r + b) * kTopColumns + i];
#pragma unroll
    for (int b = 0; b < 4; ++b) {
      float value = batch[b];
#pragma unroll UNROLL
      for (int j = 0; j < kKept; ++j) {
        const float old = kept[j];
        kept[j] = fmaxf(old, value);
        value = fminf(old, value);
      }
    }
  }
#pragma unroll
  for (int j = 0; j < kKept; ++j) y[j * kTopColumns + i] = kept[j];
}

template <int UNROLL, int MIN_BLOCKS>
Work top_case(Pool& pool) {
  auto* x = pool.random<float>(std::size_t{kTopRows} * kTopColumns);
  auto* y = pool.take<float>(std::size_t{kKept} * kTopColumns);
  return {[=] { top_values<UNROLL, MIN_BLOCKS><<<kTopColumns / 128, 128>>>(y, x); },
          output(y, std::size_t{kKept} * kTopColumns, 0)};
}

// ---- a filter with 16 taps over a delay line ----

constexpr int kTaps = 16;
constexpr int kSteps = 128;
constexpr std::uint32_t kLines = kMultiprocessors * 48 * 128;

__device__ double tap(int k) {
  return 0.5 - 0.03 * k;
}

// TURN: the delay line turns by an index known only at run time.
template <bool TURN, int MIN_BLOCKS>
__global__ void __launch_bounds__(128, MIN_BLOCKS) delay_line(double* y, const float* x) {
  const std::uint32_t i = blockIdx.x * 128 + threadIdx.x;
  double line[kTaps] = {};
  double energy = 0;
  constexpr int unrolled = TURN ? 1 : kTaps;
#pragma unroll unrolled
  for (int t = 0; t < kSteps; ++t) {
    line[t % kTaps] = x[t * kLines + i];
    double sum = 0;
#pragma unroll
    for (int k = 0; k < kTaps; ++k) {
      sum = fma(line[(t + kTaps - k) % kTaps], tap(k), sum);
    }
    energy = fma(sum, sum, energy);
  }
  y[i] = energy;
}

// The line moves on by one place in each step.
__global__ void __launch_bounds__(128) shifted_line(double* y, const float* x) {
  const std::uint32_t i = blockIdx.x * 128 + threadIdx.x;
  double line[kTaps] = {};
  double energy = 0;
#pragma unroll 8
  for (int t = 0; t < kSteps; ++t) {
#pragma unroll
    for (int k = kTaps - 1; k > 0; --k) line[k] = line[k - 1];
    line[0] = x[t * kLines + i];
    double sum = 0;
#pragma unroll
    for (int k = 0; k < kTaps; ++k) sum = fma(line[k], tap(k), sum);
    energy = fma(sum, sum, energy);
  }
  y[i] = energy;
}

// The same for LINES neighbors a thread, loaded at once.
template <int LINES>
__global__ void __launch_bounds__(128) shifted_lines(double* y, const float* x) {
  const std::uint32_t i = blockIdx.x * 128 + threadIdx.x;
  const auto* words = reinterpret_cast<const Pack<float, LINES>*>(x);
  double line[LINES][kTaps] = {};
  Pack<double, LINES> energy = {};
#pragma unroll 8
  for (int t = 0; t < kSteps; ++t) {
    const Pack<float, LINES> word = words[t * (kLines / LINES) + i];
#pragma unroll
    for (int l = 0; l < LINES; ++l) {
#pragma unroll
      for (int k = kTaps - 1; k > 0; --k) line[l][k] = line[l][k - 1];
      line[l][0] = word.v[l];
      double sum = 0;
#pragma unroll
      for (int k = 0; k < kTaps; ++k) sum = fma(line[l][k], tap(k), sum);
      energy.v[l] = fma(sum, sum, energy.v[l]);
    }
  }
#pragma unroll
  for (int l = 0; l < LINES; ++l) y[i * LINES + l] = energy.v[l];
}

template <bool TURN, int MIN_BLOCKS>
Work delay_case(Pool& pool) {
  auto* x = pool.random<float>(std::size_t{kSteps} * kLines);
  auto* y = pool.take<double>(kLines);
  return {[=] { delay_line<TURN, MIN_BLOCKS><<<kLines / 128, 128>>>(y, x); },
          output(y, kLines, 1e-9)};
}

Work shifted_case(Pool& pool) {
  auto* x = pool.random<float>(std::size_t{kSteps} * kLines);
  auto* y = pool.take<double>(kLines);
  return {[=] { shifted_line<<<kLines / 128, 128>>>(y, x); }, output(y, kLines, 1e-9)};
}

template <int LINES>
Work shifted_lines_case(Pool& pool) {
  auto* x = pool.random<float>(std::size_t{kSteps} * kLines);
  auto* y = pool.take<double>(kLines);
  return {[=] { shifted_lines<LINES><<<kLines / (128 * LINES), 128>>>(y, x); },
          output(y, kLines, 1e-9)};
}

// ---- each thread sorts 32 keys, and again after a multiplication ----

constexpr int kKeys = 32;
constexpr int kSortRounds = 3;
constexpr std::uint32_t kSorters = kMultiprocessors * 1024 * 8;

template <int UNROLL, int MIN_BLOCKS>
__global__ void __launch_bounds__(256, MIN_BLOCKS)
    sort_keys(std::uint32_t* y, const std::uint32_t* x) {
  const std::uint32_t i = blockIdx.x * 256 + threadIdx.x;
  std::uint32_t key[kKeys];
#pragma unroll
  for (int k = 0; k < kKeys; ++k) key[k] = x[k * kSorters + i];
#pragma unroll 1
  for (int round = 0; round < kSortRounds; ++round) {
#pragma unroll
    for (int k = 0; k < kKeys; ++k) key[k] *= 0x9e3779b1u;
#pragma unroll
    for (int block = 2; block <= kKeys; block *= 2) {
#pragma unroll
      for (int step = block / 2; step > 0; step /= 2) {
#pragma unroll UNROLL
        for (int pair = 0; pair < kKeys / 2; ++pair) {
          const int low = pair / step * step * 2 + pair % step;
          const std::uint32_t a = key[low];
          const std::uint32_t b = key[low + step];
          const bool up = (low & block) == 0;
          key[low] = up ? min(a, b) : max(a, b);
          key[low + step] = up ? max(a, b) : min(a, b);
        }
      }
    }
  }
#pragma unroll
  for (int k = 0; k < kKeys; ++k) y[k * kSorters + i] = key[k];
}

template <int UNROLL, int MIN_BLOCKS>
Work sort_case(Pool& pool) {
  auto* x = pool.random<std::uint32_t>(std::size_t{kKeys} * kSorters);
  auto* y = pool.take<std::uint32_t>(std::size_t{kKeys} * kSorters);
  return {[=] { sort_keys<UNROLL, MIN_BLOCKS><<<kSorters / 256, 256>>>(y, x); },
          output(y, std::size_t{kKeys} * kSorters, 0)};
}

// ---- tempting: a local array before the hot loop, or on a path never taken ----

constexpr std::uint32_t kCold = kMultiprocessors * 2048 * 4;

template <bool LOCAL>
__global__ void cold_array(float* y, const float* x, int turn) {
  const std::uint32_t i = blockIdx.x * 256 + threadIdx.x;
  const std::uint32_t read = (i * turn) % 32;
  const std::uint32_t written = (i + turn) % 32;
  float start = x[i] * 0.03125f;
  if (LOCAL) {
    float part[32];
#pragma unroll 1
    for (int k = 0; k < 32; ++k) part[k] = start * (k + 1);
    part[written] *= 0.5f;
    start = part[read];
  } else {
    start *= read + 1;
    if (read == written) start *= 0.5f;
  }
  y[i] = fma_chain(start, 4096);
}

template <bool LOCAL>
Work cold_case(Pool& pool) {
  auto* x = pool.random<float>(kCold);
  auto* y = pool.take<float>(kCold);
  return {[=] { cold_array<LOCAL><<<kCold / 256, 256>>>(y, x, 5); }, output(y, kCold)};
}

constexpr std::uint32_t kRare = 1u << 26;

__device__ __noinline__ float rare_path(float4 value, int turn) {
  float part[32];
  for (int k = 0; k < 32; ++k) part[k] = value.x * k + value.y;
  for (int k = 0; k < 32; ++k) part[(k * turn) & 31] += part[(k + turn) & 31] * value.z;
  float sum = value.w;
  for (int k = 0; k < 32; ++k) sum += part[k];
  return sum;
}

template <bool LOCAL>
__global__ void rare_array(float4* y, const float4* x, int turn) {
  const std::uint32_t base = blockIdx.x * 512 + threadIdx.x;
  float4 value[2] = {x[base], x[base + 256]};
#pragma unroll
  for (int k = 0; k < 2; ++k) {
    if (LOCAL && value[k].x > 2.0f) value[k].x = rare_path(value[k], turn);
    value[k].x *= 2;
    value[k].y *= 2;
    value[k].z *= 2;
    value[k].w *= 2;
    y[base + k * 256] = value[k];
  }
}

template <bool LOCAL>
Work rare_case(Pool& pool) {
  auto* x = pool.random<float>(kRare);
  auto* y = pool.take<float>(kRare);
  return {[=] {
            rare_array<LOCAL><<<kRare / 2048, 256>>>(reinterpret_cast<float4*>(y),
                                                     reinterpret_cast<const float4*>(x), 5);
          },
          output(y, kRare, 0)};
}

}  // namespace

void add_register_spills(Cases& cases) {
  // Local memory fills L1 first; what a full GPU keeps there is more than L1 and often than L2.
  const std::vector<std::string> spilled = {"l1", "l2", "dram", "latency", "alu"};
  Shape filters(cases, kTool, "filter_bank_f32", "f32", 2.0 * kFilters * kSamples * kChannels,
                4.0 * kSamples * kChannels, {"alu"});
  filters.clean("threads256", filter_case<256, 2>);
  filters.clean("threads128", filter_case<128, 4>);
  filters.defect("registers64", 0.4, filter_case<256, 4>).in(spilled);
  filters.defect("registers32", 1, filter_case<256, 8>).in(spilled);

  Shape top(cases, kTool, "top32_f32", "f32", 2.0 * kKept * kTopRows * kTopColumns,
            4.0 * kTopRows * kTopColumns, {"alu", "latency"});
  top.clean("unrolled", top_case<kKept, 4>);
  top.clean("registers80", top_case<kKept, 6>);
  top.defect("registers32", 0.5, top_case<kKept, 16>).in(spilled);
  top.defect("unroll1", 1, top_case<1, 4>).in(spilled);

  Shape line(cases, kTool, "delay_line_f64", "f64", 2.0 * kTaps * kSteps * kLines,
             4.0 * kSteps * kLines, {"alu", "latency", "dram"});
  line.clean("unrolled", delay_case<false, 1>);
  line.clean("shifted", shifted_case).with({"narrow_loads"});  // shifted_w16 gains a quarter
  line.defect("registers32", 0.5, delay_case<false, 16>).in(spilled);
  line.defect("turning", 1, delay_case<true, 1>).in(spilled);
  line.clean("shifted_w8", shifted_lines_case<2>);
  line.clean("shifted_w16", shifted_lines_case<4>);

  Shape sort(cases, kTool, "sort32_u32", "u32", 480.0 * kSortRounds * kSorters,
             8.0 * kKeys * kSorters, {"alu", "dram"});
  sort.clean("registers80", sort_case<kKeys / 2, 3>);
  sort.clean("registers128", sort_case<kKeys / 2, 2>);
  sort.defect("registers32", 0.5, sort_case<kKeys / 2, 8>).in(spilled);
  sort.defect("unroll1", 1, sort_case<1, 2>).in(spilled);

  Shape cold(cases, kTool, "cold_array_f32", "f32", 8192.0 * kCold, 8.0 * kCold, {"alu"});
  cold.clean("none", cold_case<false>);
  cold.tempting("before_loop", cold_case<true>);

  Shape rare(cases, kTool, "rare_array_f32", "f32", 1.0 * kRare, 8.0 * kRare, {"dram"});
  rare.clean("none", rare_case<false>);
  rare.tempting("never_taken", rare_case<true>);
}

}  // namespace defects
