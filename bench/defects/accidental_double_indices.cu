// Double precision by accident in more shapes: numbers that are made of indices, averages, and
// thresholds; and double that is asked for, although single values come in or go out.
#include "defects.cuh"

namespace defects {
namespace {

constexpr char kTool[] = "accidental_double";
constexpr std::uint32_t kValues = kMultiprocessors * 2048 * 8;

// ---- sums of a window whose weights are made of indices ----

enum class Weight { single, from_index, from_index_in4 };

template <Weight WEIGHT>
__device__ __forceinline__ float weight_of(int k) {
  if (WEIGHT == Weight::from_index || (WEIGHT == Weight::from_index_in4 && k % 4 == 0)) {
    return 0.015 * k + 0.1;
  }
  return 0.015f * static_cast<float>(k) + 0.1f;
}

template <Weight WEIGHT>
__global__ void __launch_bounds__(256) weighted(float* y, const float* x, int first, int last) {
  const std::uint32_t i = blockIdx.x * 256 + threadIdx.x;
  const float own = x[i];
  float sum = 0;
#pragma unroll 4
  for (int k = first; k < last; ++k) sum = fmaf(sum, 0.5f, own * weight_of<WEIGHT>(k - first));
  y[i] = sum;
}

template <Weight WEIGHT>
Work weighted_case(Pool& pool) {
  auto* x = pool.random<float>(kValues);
  auto* y = pool.take<float>(kValues);
  return {[=] { weighted<WEIGHT><<<kValues / 256, 256>>>(y, x, 0, 256); },
          output(y, kValues, 1e-4)};
}

// ---- classes by thresholds without a suffix ----

// DOUBLES of the eight thresholds have none.
template <int DOUBLES>
__global__ void __launch_bounds__(256) classes(float* y, const float4* x) {
  const std::uint32_t i = blockIdx.x * 256 + threadIdx.x;
  float4 word = x[i];
  float found = 0;
#pragma unroll 1
  for (int round = 0; round < 16; ++round) {
    const float values[4] = {word.x, word.y, word.z, word.w};
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const bool above = k < DOUBLES ? values[k] > 0.1 + 0.2 * k : values[k] > 0.1f + 0.2f * k;
      found += above ? static_cast<float>(k + 1) : 0.0f;
    }
    word = {word.y * 0.75f, word.z * 0.75f, word.w * 0.75f, 0.25f - word.x};
  }
  y[i] = found;
}

template <int DOUBLES>
Work classes_case(Pool& pool) {
  auto* x = pool.random<float>(std::size_t{kValues} * 4);
  auto* y = pool.take<float>(kValues);
  return {[=] { classes<DOUBLES><<<kValues / 256, 256>>>(y, reinterpret_cast<const float4*>(x)); },
          output(y, kValues, 0.2)};  // few values are between both forms of a threshold
}

// ---- tempting: single values come in, what is compared and stored is double ----

template <int UNROLL>
__global__ void __launch_bounds__(256) exact_limits(double* y, const float* x) {
  const std::uint32_t i = blockIdx.x * 256 + threadIdx.x;
  double value = 0;
#pragma unroll UNROLL
  for (int k = 0; k < 64; ++k) {
    const double next = x[std::size_t(k % 16) * kValues + i];
    value = fma(value, 0.75, next > value ? next : value * 0.5);
  }
  y[i] = value;
}

template <int UNROLL>
Work limits_case(Pool& pool) {
  auto* x = pool.random<float>(std::size_t{kValues} * 16);
  auto* y = pool.take<double>(kValues);
  return {[=] { exact_limits<UNROLL><<<kValues / 256, 256>>>(y, x); }, output(y, kValues, 1e-9)};
}

// ---- tempting: long sums in double of single values, rounded once ----

template <class SUM>
__global__ void __launch_bounds__(256) long_sums(float* y, const float* x) {
  const std::uint32_t i = blockIdx.x * 256 + threadIdx.x;
  SUM sum = 0;
#pragma unroll 8
  for (int k = 0; k < 16; ++k) sum += x[std::size_t(k) * kValues + i];
  y[i] = static_cast<float>(sum);
}

template <class SUM>
Work long_sums_case(Pool& pool) {
  auto* x = pool.random<float>(std::size_t{kValues} * 16);
  auto* y = pool.take<float>(kValues);
  return {[=] { long_sums<SUM><<<kValues / 256, 256>>>(y, x); }, output(y, kValues, 1e-4)};
}

}  // namespace

void add_accidental_double_indices(Cases& cases) {
  const std::vector<std::string> busy = {"alu", "latency"};
  Shape weights(cases, kTool, "weighted_f32", "f32", 256.0 * 5 * kValues, 8.0 * kValues, busy);
  weights.clean("suffixes", weighted_case<Weight::single>);
  weights.defect("one_in4", 0.5, weighted_case<Weight::from_index_in4>);
  weights.defect("all", 1, weighted_case<Weight::from_index>);

  Shape kinds(cases, kTool, "classes_f32", "f32", 16.0 * 12 * kValues, 20.0 * kValues,
              {"alu", "latency", "dram"});
  kinds.clean("suffixes", classes_case<0>);
  kinds.defect("doubles1", 0.4, classes_case<1>);
  kinds.defect("doubles4", 1, classes_case<4>);

  // What is asked for is double, and the task says single, as the tensor that comes in.
  Shape limits(cases, kTool, "exact_limits_f64", "f32", 256.0 * kValues, 72.0 * kValues,
               {"alu", "latency", "dram", "l1", "l2"});
  limits.tempting("unroll8", limits_case<8>).with({"narrow_loads", "repeated_loads"});
  limits.tempting("unroll1", limits_case<1>)
      .with({"narrow_loads", "repeated_loads", "long_scoreboard"});

  Shape sums(cases, kTool, "long_sums_f32", "f32", 16.0 * kValues, 68.0 * kValues, {"dram"});
  sums.clean("single", long_sums_case<float>);
  sums.tempting("double", long_sums_case<double>);
}

}  // namespace defects
