// Slow arithmetic: divisions, powers and other functions of many instructions in hot loops, where a
// product or a shorter function gives the same.
#include "defects.cuh"

namespace defects {
namespace {

constexpr char kTool[] = "slow_arithmetic";

constexpr std::uint32_t kValues = kMultiprocessors * 2048 * 8;

// ---- an iteration that divides by what never changes ----

constexpr int kSteps = 256;

// One step in DIVISIONS_EVERY divides; the others have the reciprocal. 0: all have it.
template <int DIVISIONS_EVERY>
__global__ void __launch_bounds__(256) relax(float* y, const float* x, float width) {
  const std::uint32_t i = blockIdx.x * 256 + threadIdx.x;
  const float inverse = 1.0f / width;
  const float start = x[i];
  float value = start;
#pragma unroll 8
  for (int step = 0; step < kSteps; ++step) {
    const float sum = fmaf(value, 0.75f, start);
    constexpr int every = DIVISIONS_EVERY == 0 ? 1 : DIVISIONS_EVERY;
    value = DIVISIONS_EVERY > 0 && step % every == 0 ? sum / width : sum * inverse;
  }
  y[i] = value;
}

template <int DIVISIONS_EVERY>
Work relax_case(Pool& pool) {
  auto* x = pool.random<float>(kValues);
  auto* y = pool.take<float>(kValues);
  return {[=] { relax<DIVISIONS_EVERY><<<kValues / 256, 256>>>(y, x, 1.7f); },
          output(y, kValues, 1e-4)};
}

// ---- powers with a known exponent ----

enum class Power { products, half, cube, both };

template <Power POWER>
__global__ void __launch_bounds__(256) powers(float* y, const float* x, float exponent) {
  constexpr bool cubes = POWER == Power::cube || POWER == Power::both;
  constexpr bool halves = POWER == Power::half || POWER == Power::both;
  const std::uint32_t i = blockIdx.x * 256 + threadIdx.x;
  float value = fabsf(x[i]) + 0.1f;
#pragma unroll 1
  for (int step = 0; step < 64; ++step) {
    const float cube = cubes ? powf(value, exponent) : value * value * value;
    const float other = value + 0.25f;
    const float root = halves ? powf(other, exponent * 0.5f) : other * __fsqrt_rn(other);
    value = fmaf(cube, 0.125f, root * 0.25f);
  }
  y[i] = value;
}

template <Power POWER>
Work powers_case(Pool& pool) {
  auto* x = pool.random<float>(kValues);
  auto* y = pool.take<float>(kValues);
  return {[=] { powers<POWER><<<kValues / 256, 256>>>(y, x, 3.0f); }, output(y, kValues, 1e-3)};
}

// ---- forces: a root, and three divisions by it ----

constexpr int kBodies = kMultiprocessors * 256 * 2;
constexpr int kSources = 2048;

enum class Inverse { fast, rounded, root, divisions };

template <Inverse INVERSE>
__device__ __forceinline__ float3 pulled(float3 d, float square) {
  if (INVERSE == Inverse::divisions) {
    const float root = sqrtf(square);
    const float cube = root * root * root;
    return {d.x / cube, d.y / cube, d.z / cube};
  }
  const float inverse = INVERSE == Inverse::root      ? 1.0f / sqrtf(square)
                        : INVERSE == Inverse::rounded ? __frsqrt_rn(square)
                                                      : rsqrtf(square);
  const float cube = inverse * inverse * inverse;
  return {d.x * cube, d.y * cube, d.z * cube};
}

template <Inverse INVERSE>
__global__ void __launch_bounds__(256) forces(float* y, const float4* bodies) {
  __shared__ float4 tile[256];
  const std::uint32_t i = blockIdx.x * 256 + threadIdx.x;
  const float4 own = bodies[i];
  float3 force = {0, 0, 0};
#pragma unroll 1
  for (int first = 0; first < kSources; first += 256) {
    tile[threadIdx.x] = bodies[first + threadIdx.x];
    __syncthreads();
#pragma unroll 4
    for (int k = 0; k < 256; ++k) {
      const float4 other = tile[k];
      const float3 d = {other.x - own.x, other.y - own.y, other.z - own.z};
      const float3 pull = pulled<INVERSE>(d, d.x * d.x + d.y * d.y + d.z * d.z + 0.01f);
      force.x = fmaf(pull.x, other.w, force.x);
      force.y = fmaf(pull.y, other.w, force.y);
      force.z = fmaf(pull.z, other.w, force.z);
    }
    __syncthreads();
  }
  y[i] = force.x + force.y + force.z;
}

template <Inverse INVERSE>
Work forces_case(Pool& pool) {
  auto* x = pool.random<float>(kBodies * 4);
  auto* y = pool.take<float>(kBodies);
  return {[=] { forces<INVERSE><<<kBodies / 256, 256>>>(y, reinterpret_cast<const float4*>(x)); },
          output(y, kBodies, 1e-2)};
}

// ---- a gate that is applied again and again ----

enum class Gate { fast, exponential, division, both };

template <Gate GATE>
__device__ __forceinline__ float gate(float x) {
  const bool exact = GATE == Gate::exponential || GATE == Gate::both;
  const float grown = 1.0f + (exact ? expf(-x) : __expf(-x));
  return GATE == Gate::division || GATE == Gate::both ? 1.0f / grown : __fdividef(1.0f, grown);
}

template <Gate GATE>
__global__ void __launch_bounds__(256) gates(float* y, const float* x) {
  const std::uint32_t i = blockIdx.x * 256 + threadIdx.x;
  const float start = x[i];
  float value = start;
#pragma unroll 4
  for (int step = 0; step < 128; ++step) value = fmaf(gate<GATE>(value), 0.5f, start);
  y[i] = value;
}

template <Gate GATE>
Work gates_case(Pool& pool) {
  auto* x = pool.random<float>(kValues);
  auto* y = pool.take<float>(kValues);
  return {[=] { gates<GATE><<<kValues / 256, 256>>>(y, x); }, output(y, kValues, 1e-4)};
}

// ---- rotations by angles of a fixed grid ----

constexpr int kAngles = 64;
constexpr std::uint32_t kRotated = kMultiprocessors * 2048 * 4;
constexpr float kAngle = 0.098174770f;

enum class Turn { table, recurrence, exact, pi };

template <Turn TURN>
__global__ void __launch_bounds__(256) rotations(float* y, const float2* x, float angle) {
  __shared__ float2 table[kAngles];
  if (TURN == Turn::table && threadIdx.x < kAngles) {
    sincosf(angle * threadIdx.x, &table[threadIdx.x].y, &table[threadIdx.x].x);
  }
  __syncthreads();
  const std::uint32_t i = blockIdx.x * 256 + threadIdx.x;
  const float2 own = x[i];
  float2 unit;
  sincosf(angle, &unit.y, &unit.x);
  float2 now = {1, 0};
  float sum = 0;
#pragma unroll 2
  for (int k = 0; k < kAngles; ++k) {
    float2 turn = now;
    if (TURN == Turn::table) turn = table[k];
    if (TURN == Turn::exact) sincosf(angle * (k + 1e-6f * own.x), &turn.y, &turn.x);
    if (TURN == Turn::pi) {
      sincospif(angle * 0.31830989f * (k + 1e-6f * own.x), &turn.y, &turn.x);
    }
    const float value = own.x * turn.x - own.y * turn.y;
    sum = fmaf(value, value, 0.5f * sum);
    now = {now.x * unit.x - now.y * unit.y, now.x * unit.y + now.y * unit.x};
  }
  y[i] = sum;
}

template <Turn TURN>
Work rotations_case(Pool& pool) {
  auto* x = pool.random<float>(kRotated * 2);
  auto* y = pool.take<float>(kRotated);
  return {[=] {
            rotations<TURN><<<kRotated / 256, 256>>>(y, reinterpret_cast<const float2*>(x), kAngle);
          },
          output(y, kRotated, 1e-3)};
}

// ---- positions that wrap around ----

enum class Wrap { floor, fmod, remainder, every4 };

template <Wrap WRAP>
__device__ __forceinline__ float wrapped(float x, float length, float inverse, int step) {
  if (WRAP == Wrap::fmod || (WRAP == Wrap::every4 && step % 4 == 0)) return fmodf(x, length);
  if (WRAP == Wrap::remainder) {
    const float rest = remainderf(x, length);
    return rest < 0 ? rest + length : rest;
  }
  return x - length * truncf(x * inverse);
}

template <Wrap WRAP>
__global__ void __launch_bounds__(256) positions(float* y, const float* x, float length) {
  const std::uint32_t i = blockIdx.x * 256 + threadIdx.x;
  const float speed = fabsf(x[i]) + 0.25f;
  const float inverse = 1.0f / length;
  float value = speed;
  float sum = 0;
#pragma unroll 4
  for (int step = 0; step < 64; ++step) {
    value = wrapped<WRAP>(value + speed, length, inverse, step);
    sum += fabsf(value - 0.5f * length);  // without a jump where it wraps
  }
  y[i] = sum;
}

template <Wrap WRAP>
Work positions_case(Pool& pool) {
  auto* x = pool.random<float>(kValues);
  auto* y = pool.take<float>(kValues);
  return {[=] { positions<WRAP><<<kValues / 256, 256>>>(y, x, 16.0f); }, output(y, kValues, 1e-2)};
}

// ---- vectors brought to length one, in double ----

constexpr std::uint32_t kVectors = kMultiprocessors * 2048 * 2;

// DIVISIONS of the eight parts are divided by the length; the others take its reciprocal.
template <int DIVISIONS>
__global__ void __launch_bounds__(256) unit_vectors(double* y, const double* x) {
  const std::uint32_t i = blockIdx.x * 256 + threadIdx.x;
  double part[8];
#pragma unroll
  for (int k = 0; k < 8; ++k) part[k] = x[k * kVectors + i];
#pragma unroll 1
  for (int round = 0; round < 16; ++round) {
    double square = 0;
#pragma unroll
    for (int k = 0; k < 8; ++k) square = fma(part[k], part[k], square);
    const double inverse = rsqrt(square);
    const double length = square * inverse;
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      part[k] = fma(k < DIVISIONS ? part[k] / length : part[k] * inverse, 0.75, 0.125);
    }
  }
  double sum = 0;
#pragma unroll
  for (int k = 0; k < 8; ++k) sum = fma(part[k], 0.25 + 0.125 * k, sum);
  y[i] = sum;
}

template <int DIVISIONS>
Work vectors_case(Pool& pool) {
  auto* x = pool.random<double>(kVectors * 8);
  auto* y = pool.take<double>(kVectors);
  return {[=] { unit_vectors<DIVISIONS><<<kVectors / 256, 256>>>(y, x); },
          output(y, kVectors, 1e-9)};
}

// ---- tempting: functions of each element where memory bounds ----

constexpr std::uint32_t kStream = 1u << 24;  // of four values

enum class Each { scale, quotient, exponential };

template <Each EACH>
__device__ __forceinline__ float of_each(float x, float width) {
  if (EACH == Each::quotient) return x / width;
  if (EACH == Each::exponential) return expf(x * 1e-8f) * x * 0.5f;
  return x * 0.5f;
}

template <Each EACH>
__global__ void __launch_bounds__(256) stream(float4* y, const float4* x, float width) {
  const std::uint32_t i = blockIdx.x * 256 + threadIdx.x;
  float4 word = x[i];
  word.x = of_each<EACH>(word.x, width);
  word.y = of_each<EACH>(word.y, width);
  word.z = of_each<EACH>(word.z, width);
  word.w = of_each<EACH>(word.w, width);
  y[i] = word;
}

template <Each EACH>
Work stream_case(Pool& pool) {
  auto* x = pool.random<float>(std::size_t{kStream} * 4);
  auto* y = pool.take<float>(std::size_t{kStream} * 4);
  return {[=] {
            stream<EACH><<<kStream / 256, 256>>>(reinterpret_cast<float4*>(y),
                                                 reinterpret_cast<const float4*>(x), 2.0f);
          },
          output(y, std::size_t{kStream} * 4)};
}

// ---- tempting: functions beside a long loop, or few of them in it ----

enum class Beside { nothing, before, seldom };

template <Beside BESIDE>
__global__ void __launch_bounds__(256) long_loop(float* y, const float* x, float width) {
  const std::uint32_t i = blockIdx.x * 256 + threadIdx.x;
  const float inverse = 1.0f / width;
  float value = x[i];
  value = BESIDE == Beside::before ? logf(expf(value / width)) : value * inverse;
#pragma unroll 1
  for (int k = 0; k < 16; ++k) {
    value = fma_chain(value, 512);
    value = BESIDE == Beside::seldom ? value / width : value * inverse;
  }
  y[i] = value;
}

template <Beside BESIDE>
Work long_loop_case(Pool& pool) {
  auto* x = pool.random<float>(kValues);
  auto* y = pool.take<float>(kValues);
  return {[=] { long_loop<BESIDE><<<kValues / 256, 256>>>(y, x, 1.25f); },
          output(y, kValues, 1e-4)};
}

// ---- tempting: the special function units are full, by functions that are short already ----

template <int UNROLL>
__global__ void __launch_bounds__(256) short_functions(float* y, const float* x) {
  const std::uint32_t i = blockIdx.x * 256 + threadIdx.x;
  const float start = x[i];
  float value = start;
#pragma unroll UNROLL
  for (int step = 0; step < 256; ++step) {
    value = fmaf(__cosf(value), 0.5f, __expf(start - fabsf(value)) * 0.25f);
  }
  y[i] = value;
}

template <int UNROLL>
Work short_functions_case(Pool& pool) {
  auto* x = pool.random<float>(kValues);
  auto* y = pool.take<float>(kValues);
  return {[=] { short_functions<UNROLL><<<kValues / 256, 256>>>(y, x); }, output(y, kValues, 1e-4)};
}

}  // namespace

void add_slow_arithmetic(Cases& cases) {
  const std::vector<std::string> busy = {"alu", "latency"};
  Shape relaxed(cases, kTool, "relax_f32", "f32", 3.0 * kSteps * kValues, 8.0 * kValues, busy);
  relaxed.clean("reciprocal", relax_case<0>);
  relaxed.defect("one_in8", 0.3, relax_case<8>);
  relaxed.defect("one_in2", 0.7, relax_case<2>);
  relaxed.defect("all", 1, relax_case<1>);

  Shape powers(cases, kTool, "powers_f32", "f32", 64.0 * 8 * kValues, 8.0 * kValues, busy);
  powers.clean("products", powers_case<Power::products>);
  powers.defect("half", 0.5, powers_case<Power::half>);
  powers.defect("cube", 0.7, powers_case<Power::cube>);
  powers.defect("both", 1, powers_case<Power::both>);

  // One or two blocks for each multiprocessor, as many as there are bodies.
  Shape bodies(cases, kTool, "forces_f32", "f32", 20.0 * kBodies * kSources, 20.0 * kBodies, busy);
  bodies.clean("rsqrt", forces_case<Inverse::fast>).with({"block_shortage", "occupancy_limiter"});
  bodies.defect("rounded", 0.3, forces_case<Inverse::rounded>)
      .with({"block_shortage", "occupancy_limiter"});
  bodies.defect("root", 0.6, forces_case<Inverse::root>)
      .with({"block_shortage", "occupancy_limiter"});
  bodies.defect("divisions", 1, forces_case<Inverse::divisions>)
      .with({"block_shortage", "occupancy_limiter"});

  Shape gates(cases, kTool, "gates_f32", "f32", 128.0 * 5 * kValues, 8.0 * kValues, busy);
  gates.clean("fast", gates_case<Gate::fast>);
  gates.defect("exponential", 0.3, gates_case<Gate::exponential>);
  gates.defect("division", 0.6, gates_case<Gate::division>);
  gates.defect("both", 1, gates_case<Gate::both>);

  Shape turns(cases, kTool, "rotations_f32", "f32", 13.0 * kAngles * kRotated, 12.0 * kRotated,
              busy);
  turns.clean("recurrence", rotations_case<Turn::recurrence>);
  turns.clean("table", rotations_case<Turn::table>);
  turns.defect("multiples_of_pi", 0.5, rotations_case<Turn::pi>);
  turns.defect("functions", 1, rotations_case<Turn::exact>);

  Shape wraps(cases, kTool, "positions_f32", "f32", 64.0 * 7 * kValues, 8.0 * kValues, busy);
  wraps.clean("truncated", positions_case<Wrap::floor>);
  wraps.defect("fmod_in4", 0.6, positions_case<Wrap::every4>);
  wraps.defect("fmod", 0.9, positions_case<Wrap::fmod>);
  wraps.defect("remainder", 1, positions_case<Wrap::remainder>);

  Shape vectors(cases, kTool, "unit_vectors_f64", "f64", 16.0 * 36 * kVectors, 72.0 * kVectors,
                busy);
  vectors.clean("reciprocal", vectors_case<0>);
  vectors.defect("divisions2", 0.5, vectors_case<2>);
  vectors.defect("divisions8", 1, vectors_case<8>);

  const double streamed = 4.0 * kStream;
  Shape streams(cases, kTool, "stream_f32", "f32", streamed, 8 * streamed, {"dram"});
  streams.clean("scale", stream_case<Each::scale>);
  streams.tempting("quotient", stream_case<Each::quotient>);
  streams.tempting("exponential", stream_case<Each::exponential>);

  Shape loop(cases, kTool, "long_loop_f32", "f32", 16.0 * 1024 * kValues, 8.0 * kValues, busy);
  loop.clean("nothing", long_loop_case<Beside::nothing>);
  loop.tempting("before", long_loop_case<Beside::before>);
  loop.tempting("seldom", long_loop_case<Beside::seldom>);

  Shape brief(cases, kTool, "short_functions_f32", "f32", 256.0 * 8 * kValues, 8.0 * kValues, busy);
  brief.tempting("unroll8", short_functions_case<8>);
  brief.tempting("unroll2", short_functions_case<2>);
}

}  // namespace defects
