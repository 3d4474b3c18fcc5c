// Slow arithmetic in more shapes: layers of networks, potentials, and functions whose short forms
// ask the special function unit as often as the long ones.
#include "defects.cuh"

namespace defects {
namespace {

constexpr char kTool[] = "slow_arithmetic";
constexpr std::uint32_t kValues = kMultiprocessors * 2048 * 8;

// ---- rows brought to a sum of one, from registers, several times ----

enum class Softmax { fast, exponential, division, both };

template <Softmax FORM>
__global__ void __launch_bounds__(256) softmax(float* y, const float* x) {
  constexpr bool exact = FORM == Softmax::exponential || FORM == Softmax::both;
  constexpr bool divides = FORM == Softmax::division || FORM == Softmax::both;
  const std::uint32_t i = blockIdx.x * 256 + threadIdx.x;
  float part[8];
#pragma unroll
  for (int k = 0; k < 8; ++k) part[k] = x[std::size_t(k) * (kValues / 8) + i];
#pragma unroll 1
  for (int round = 0; round < 16; ++round) {
    float most = part[0];
#pragma unroll
    for (int k = 1; k < 8; ++k) most = fmaxf(most, part[k]);
    float sum = 0;
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      part[k] = exact ? expf(part[k] - most) : __expf(part[k] - most);
      sum += part[k];
    }
    const float inverse = __fdividef(1.0f, sum);
#pragma unroll
    for (int k = 0; k < 8; ++k) part[k] = divides ? part[k] / sum : part[k] * inverse;
  }
#pragma unroll
  for (int k = 0; k < 8; ++k) y[std::size_t(k) * (kValues / 8) + i] = part[k];
}

template <Softmax FORM>
Work softmax_case(Pool& pool) {
  auto* x = pool.random<float>(kValues);
  auto* y = pool.take<float>(kValues);
  return {[=] { softmax<FORM><<<kValues / 8 / 256, 256>>>(y, x); }, output(y, kValues, 1e-4)};
}

// ---- small whole powers, and one that is a root, of distances ----

enum class Power { products, square, root };

template <Power POWER>
__global__ void __launch_bounds__(256) potentials(float* y, const float* x, float two, float half) {
  const std::uint32_t i = blockIdx.x * 256 + threadIdx.x;
  const float start = fabsf(x[i]) + 0.25f;
  float value = start;
#pragma unroll 1
  for (int step = 0; step < 64; ++step) {
    const float square = POWER == Power::square ? powf(value, two) : value * value;
    const float under = start + square;
    const float root = POWER == Power::root ? powf(under, half) : under * rsqrtf(under);
    value = fmaf(root, 0.5f, 0.125f);
  }
  y[i] = value;
}

template <Power POWER>
Work potentials_case(Pool& pool) {
  auto* x = pool.random<float>(kValues);
  auto* y = pool.take<float>(kValues);
  return {[=] { potentials<POWER><<<kValues / 256, 256>>>(y, x, 2.0f, 0.5f); },
          output(y, kValues, 1e-3)};
}

// ---- tempting: long exponentials that fill the special function unit as short ones do ----

enum class Gate { fast, exponential };

// FUNCTIONS short ones beside each.
template <Gate GATE, int FUNCTIONS>
__global__ void __launch_bounds__(256) full_unit(float* y, const float* x) {
  const std::uint32_t i = blockIdx.x * 256 + threadIdx.x;
  const float start = x[i];
  float value = start;
#pragma unroll 4
  for (int step = 0; step < 128; ++step) {
    float sum = GATE == Gate::fast ? __expf(-fabsf(value)) : expf(-fabsf(value));
#pragma unroll
    for (int k = 0; k < FUNCTIONS; ++k) sum += __cosf(value + static_cast<float>(k));
    value = fmaf(sum, 0.125f, start);
  }
  y[i] = value;
}

template <Gate GATE, int FUNCTIONS>
Work full_unit_case(Pool& pool) {
  auto* x = pool.random<float>(kValues);
  auto* y = pool.take<float>(kValues);
  return {[=] { full_unit<GATE, FUNCTIONS><<<kValues / 256, 256>>>(y, x); },
          output(y, kValues, 1e-3)};
}

// ---- tempting: divisions beside random reads of a large table, which are what takes the time ----

constexpr std::uint32_t kTable = 1u << 26;

template <bool DIVIDES>
__global__ void __launch_bounds__(256)
    scaled_reads(float* y, const float* table, const std::uint32_t* places, float width) {
  const std::uint32_t i = blockIdx.x * 256 + threadIdx.x;
  const float inverse = 1.0f / width;
  std::uint32_t place = places[i];
  float sum = 0;
#pragma unroll 4
  for (int k = 0; k < 16; ++k) {
    const float value = table[place];
    sum += DIVIDES ? value / width : value * inverse;
    place = (place * 5 + 12345) % kTable;
  }
  y[i] = sum;
}

template <bool DIVIDES>
Work reads_case(Pool& pool) {
  auto* table = pool.random<float>(kTable);
  auto* places = pool.random_below(kValues, kTable);
  auto* y = pool.take<float>(kValues);
  return {[=] { scaled_reads<DIVIDES><<<kValues / 256, 256>>>(y, table, places, 1.7f); },
          output(y, kValues, 1e-4)};
}

}  // namespace

void add_slow_arithmetic_layers(Cases& cases) {
  const std::vector<std::string> busy = {"alu", "latency"};
  Shape rows(cases, kTool, "softmax_f32", "f32", 16.0 * 6 * kValues, 8.0 * kValues, busy);
  rows.clean("fast", softmax_case<Softmax::fast>);
  rows.defect("exponential", 0.3, softmax_case<Softmax::exponential>);
  rows.defect("division", 0.7, softmax_case<Softmax::division>);
  rows.defect("both", 1, softmax_case<Softmax::both>);

  Shape powers(cases, kTool, "potentials_f32", "f32", 64.0 * 5 * kValues, 8.0 * kValues, busy);
  powers.clean("products", potentials_case<Power::products>);
  powers.defect("square", 0.8, potentials_case<Power::square>);
  powers.defect("root", 0.8, potentials_case<Power::root>);

  Shape full(cases, kTool, "full_unit_f32", "f32", 128.0 * 12 * kValues, 8.0 * kValues, busy);
  full.clean("fast", full_unit_case<Gate::fast, 3>);
  full.tempting("exponential", full_unit_case<Gate::exponential, 3>);

  Shape reads(cases, kTool, "scaled_reads_f32", "f32", 32.0 * kValues, 8.0 * kValues,
              {"dram", "l2", "latency", "l1"});
  reads.clean("products", reads_case<false>).with({"uncoalesced_access", "excess_traffic"});
  reads.tempting("divisions", reads_case<true>).with({"uncoalesced_access", "excess_traffic"});
}

}  // namespace defects
