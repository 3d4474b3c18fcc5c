// Double precision by accident: constants without a suffix and functions of double in code for
// single precision.
#include "defects.cuh"

namespace defects {
namespace {

constexpr char kTool[] = "accidental_double";

// ---- an iteration whose constants have a suffix, or not ----

constexpr int kSteps = 512;
constexpr std::uint32_t kValues = kMultiprocessors * 2048 * 8;

// One constant in DOUBLES_EVERY steps has none; 0: all have one.
template <int DOUBLES_EVERY>
__global__ void __launch_bounds__(256) iterate(float* y, const float* x) {
  const std::uint32_t i = blockIdx.x * 256 + threadIdx.x;
  const float start = x[i];
  float value = start;
#pragma unroll 16
  for (int step = 0; step < kSteps; ++step) {
    if (DOUBLES_EVERY > 0 && step % (DOUBLES_EVERY + (DOUBLES_EVERY == 0)) == 0) {
      value = value * start * 0.7 + 0.1;
    } else {
      value = value * start * 0.7f + 0.1f;
    }
  }
  y[i] = value;
}

template <int DOUBLES_EVERY>
Work iterate_case(Pool& pool) {
  auto* x = pool.random<float>(kValues);
  auto* y = pool.take<float>(kValues);
  return {[=] { iterate<DOUBLES_EVERY><<<kValues / 256, 256>>>(y, x); }, output(y, kValues, 1e-4)};
}

// ---- activation functions over a large tensor ----

constexpr std::uint32_t kActivated = 1u << 24;  // of four values

enum class Tanh { floats, doubles, power };

template <Tanh TANH>
__device__ __forceinline__ float gelu(float x) {
  if (TANH == Tanh::floats) {
    return 0.5f * x * (1.0f + tanhf(0.7978845608f * (x + 0.044715f * x * x * x)));
  }
  if (TANH == Tanh::power) {
    return 0.5f * x * (1.0f + tanhf(0.7978845608 * (x + 0.044715 * pow(double(x), 3.0))));
  }
  return 0.5 * x * (1.0 + tanh(0.7978845608 * (x + 0.044715 * x * x * x)));
}

template <Tanh TANH>
__global__ void __launch_bounds__(256) gelus(float4* y, const float4* x) {
  const std::uint32_t i = blockIdx.x * 256 + threadIdx.x;
  float4 word = x[i];
  word.x = gelu<TANH>(word.x);
  word.y = gelu<TANH>(word.y);
  word.z = gelu<TANH>(word.z);
  word.w = gelu<TANH>(word.w);
  y[i] = word;
}

template <Tanh TANH>
Work gelu_case(Pool& pool) {
  auto* x = pool.random<float>(std::size_t{kActivated} * 4);
  auto* y = pool.take<float>(std::size_t{kActivated} * 4);
  return {[=] {
            gelus<TANH><<<kActivated / 256, 256>>>(reinterpret_cast<float4*>(y),
                                                   reinterpret_cast<const float4*>(x));
          },
          output(y, std::size_t{kActivated} * 4, 1e-4)};
}

// ---- points of a fractal ----

constexpr std::uint32_t kPoints = kMultiprocessors * 2048 * 2;
constexpr int kTurns = 512;

enum class Where { nowhere, bound, step, both };

// All points stay: every turn is taken by all threads.
template <Where WHERE>
__global__ void __launch_bounds__(256) fractal(float* y, const float* x) {
  const std::uint32_t i = blockIdx.x * 256 + threadIdx.x;
  const float cr = 0.2f * x[2 * i];
  const float ci = 0.2f * x[2 * i + 1];
  float zr = cr;
  float zi = ci;
  int turns = 0;
#pragma unroll 1
  for (; turns < kTurns; ++turns) {
    const float rr = zr * zr;
    const float ii = zi * zi;
    if (WHERE == Where::bound || WHERE == Where::both) {
      if (rr + ii > 4.1) break;
    } else {
      if (rr + ii > 4.1f) break;
    }
    if (WHERE == Where::step || WHERE == Where::both) {
      zi = 1.9 * zr * zi + ci;
    } else {
      zi = 1.9f * zr * zi + ci;
    }
    zr = rr - ii + cr;
  }
  y[i] = zr + zi + static_cast<float>(turns);
}

template <Where WHERE>
Work fractal_case(Pool& pool) {
  auto* x = pool.random<float>(kPoints * 2);
  auto* y = pool.take<float>(kPoints);
  return {[=] { fractal<WHERE><<<kPoints / 256, 256>>>(y, x); }, output(y, kPoints, 1e-4)};
}

// ---- forces between bodies ----

constexpr int kBodies = kMultiprocessors * 256;
constexpr int kSources = 2048;

enum class Root { single, softening, root, power };

template <Root ROOT>
__device__ __forceinline__ float pull(float square) {
  if (ROOT == Root::softening) {  // the sum alone in double
    const float inverse = rsqrtf(square + 1.1e-3);
    return inverse * inverse * inverse;
  }
  if (ROOT == Root::root) {
    const float inverse = 1.0 / sqrt(square + 1.1e-3);
    return inverse * inverse * inverse;
  }
  if (ROOT == Root::power) return pow(square + 1.1e-3, -1.5);
  const float inverse = rsqrtf(square + 1.1e-3f);
  return inverse * inverse * inverse;
}

template <Root ROOT>
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
      const float dx = other.x - own.x;
      const float dy = other.y - own.y;
      const float dz = other.z - own.z;
      const float s = other.w * pull<ROOT>(dx * dx + dy * dy + dz * dz);
      force.x = fmaf(dx, s, force.x);
      force.y = fmaf(dy, s, force.y);
      force.z = fmaf(dz, s, force.z);
    }
    __syncthreads();
  }
  y[i] = force.x + force.y + force.z;
}

template <Root ROOT>
Work forces_case(Pool& pool) {
  auto* x = pool.random<float>(kBodies * 4);
  auto* y = pool.take<float>(kBodies);
  return {[=] { forces<ROOT><<<kBodies / 256, 256>>>(y, reinterpret_cast<const float4*>(x)); },
          output(y, kBodies, 1e-2)};
}

// ---- half precision, brought to its range by constants ----

constexpr std::uint32_t kHalves = 1u << 24;  // of eight values

// DOUBLES of eight steps on each value have constants of double.
template <int DOUBLES>
__global__ void __launch_bounds__(256) condition(Pack<__half, 8>* y, const Pack<__half, 8>* x) {
  const std::uint32_t i = blockIdx.x * 256 + threadIdx.x;
  Pack<__half, 8> word = x[i];
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    float value = __half2float(word.v[k]);
#pragma unroll
    for (int step = 0; step < 8; ++step) {
      if (step < DOUBLES) {
        value = value * 0.9 + 0.01;
      } else {
        value = value * 0.9f + 0.01f;
      }
    }
    word.v[k] = __float2half_rn(value);
  }
  y[i] = word;
}

template <int DOUBLES>
Work condition_case(Pool& pool) {
  auto* x = pool.random<__half>(std::size_t{kHalves} * 8);
  auto* y = pool.take<__half>(std::size_t{kHalves} * 8);
  return {[=] {
            condition<DOUBLES><<<kHalves / 256, 256>>>(reinterpret_cast<Pack<__half, 8>*>(y),
                                                       reinterpret_cast<const Pack<__half, 8>*>(x));
          },
          output(y, std::size_t{kHalves} * 8, 2e-3)};
}

// ---- waves: sines of phases ----

constexpr std::uint32_t kWaves = kMultiprocessors * 2048 * 2;

enum class Sine { single, phase, function };

template <Sine SINE>
__global__ void __launch_bounds__(256) waves(float* y, const float* x) {
  const std::uint32_t i = blockIdx.x * 256 + threadIdx.x;
  const float start = x[i];
  float sum = 0;
#pragma unroll 1
  for (int k = 1; k <= 32; ++k) {
    if (SINE == Sine::function) {
      sum += sin(0.1 * k * start);
    } else if (SINE == Sine::phase) {
      sum += __sinf(0.1 * k * start);
    } else {
      sum += __sinf(0.1f * k * start);
    }
  }
  y[i] = sum;
}

template <Sine SINE>
Work waves_case(Pool& pool) {
  auto* x = pool.random<float>(kWaves);
  auto* y = pool.take<float>(kWaves);
  return {[=] { waves<SINE><<<kWaves / 256, 256>>>(y, x); }, output(y, kWaves, 1e-3)};
}

// ---- tempting: double is asked for ----

constexpr std::uint32_t kExact = kMultiprocessors * 2048 * 8;

// MIXED: the tensor of single precision comes in, double goes out.
template <class IN, int UNROLL>
__global__ void __launch_bounds__(256) exact(double* y, const IN* x) {
  const std::uint32_t i = blockIdx.x * 256 + threadIdx.x;
  const double start = x[i];
  double value = start;
#pragma unroll UNROLL
  for (int step = 0; step < 256; ++step) value = fma(value, 0.4999, start * 0.5);
  y[i] = value;
}

template <class IN, int UNROLL>
Work exact_case(Pool& pool) {
  auto* x = pool.random<IN>(kExact);
  auto* y = pool.take<double>(kExact);
  return {[=] { exact<IN, UNROLL><<<kExact / 256, 256>>>(y, x); }, output(y, kExact, 1e-9)};
}

// ---- tempting: sums in double of a long read, which memory bounds ----

constexpr std::uint32_t kSumRows = 16384;

template <class SUM>
__global__ void __launch_bounds__(256) row_sums(float* y, const float4* x) {
  const int lane = threadIdx.x % 32;
  const std::uint32_t row = blockIdx.x * 8 + threadIdx.x / 32;
  SUM sum = 0;
#pragma unroll 8
  for (int k = 0; k < 32; ++k) {
    const float4 word = x[row * 1024 + k * 32 + lane];
    sum += (word.x + word.y) + (word.z + word.w);
  }
  sum = warp_sum(sum);
  if (lane == 0) y[row] = sum;
}

template <class SUM>
Work row_sums_case(Pool& pool) {
  auto* x = pool.random<float>(std::size_t{kSumRows} * 4096);
  auto* y = pool.take<float>(kSumRows);
  return {[=] { row_sums<SUM><<<kSumRows / 8, 256>>>(y, reinterpret_cast<const float4*>(x)); },
          output(y, kSumRows, 1e-3)};
}

// ---- tempting: one constant of double where memory bounds ----

constexpr std::uint32_t kScaled = 1u << 24;  // of four values

template <bool DOUBLES>
__global__ void __launch_bounds__(256) scale(float4* y, const float4* x) {
  const std::uint32_t i = blockIdx.x * 256 + threadIdx.x;
  float4 word = x[i];
  if (DOUBLES) {
    word.x = word.x * 0.3;
  } else {
    word.x *= 0.3f;
  }
  word.y *= 0.3f;
  word.z *= 0.3f;
  word.w *= 0.3f;
  y[i] = word;
}

template <bool DOUBLES>
Work scale_case(Pool& pool) {
  auto* x = pool.random<float>(std::size_t{kScaled} * 4);
  auto* y = pool.take<float>(std::size_t{kScaled} * 4);
  return {[=] {
            scale<DOUBLES><<<kScaled / 256, 256>>>(reinterpret_cast<float4*>(y),
                                                   reinterpret_cast<const float4*>(x));
          },
          output(y, std::size_t{kScaled} * 4)};
}

// ---- tempting: double once in a thread, before a long loop, or on a path never taken ----

enum class Once { never, first, rare };

template <Once ONCE>
__global__ void __launch_bounds__(256) long_loop(float* y, const float* x, float step) {
  const std::uint32_t i = blockIdx.x * 256 + threadIdx.x;
  const float scale =
      ONCE == Once::first ? static_cast<float>(exp(-1.1 * step)) : expf(-1.1f * step);
  float value = x[i] * scale;
#pragma unroll 1
  for (int k = 0; k < 64; ++k) {
    if (ONCE == Once::rare && value > 4.0f) value = sqrt(value + 0.1);
    value = fma_chain(value, 48);
  }
  y[i] = value;
}

template <Once ONCE>
Work long_loop_case(Pool& pool) {
  auto* x = pool.random<float>(kValues);
  auto* y = pool.take<float>(kValues);
  return {[=] { long_loop<ONCE><<<kValues / 256, 256>>>(y, x, 0.25f); }, output(y, kValues, 1e-4)};
}

}  // namespace

void add_accidental_double(Cases& cases) {
  const std::vector<std::string> busy = {"alu", "latency"};
  Shape iterate(cases, kTool, "iterate_f32", "f32", 3.0 * kSteps * kValues, 8.0 * kValues, busy);
  iterate.clean("suffixes", iterate_case<0>);
  iterate.defect("one_in16", 0.2, iterate_case<16>);
  iterate.defect("one_in4", 0.6, iterate_case<4>);
  iterate.defect("all", 1, iterate_case<1>);

  const double activated = 4.0 * kActivated;
  Shape gelus(cases, kTool, "gelu_f32", "f32", 20 * activated, 8 * activated,
              {"dram", "alu", "latency"});
  gelus.clean("floats", gelu_case<Tanh::floats>);
  gelus.defect("power", 0.7, gelu_case<Tanh::power>);
  gelus.defect("doubles", 1, gelu_case<Tanh::doubles>);

  Shape points(cases, kTool, "fractal_f32", "f32", 8.0 * kTurns * kPoints, 12.0 * kPoints, busy);
  points.clean("suffixes", fractal_case<Where::nowhere>);
  points.defect("bound", 0.4, fractal_case<Where::bound>);
  points.defect("step", 0.7, fractal_case<Where::step>);
  points.defect("both", 1, fractal_case<Where::both>);

  // One or two blocks for each multiprocessor, as many as there are bodies.
  Shape bodies(cases, kTool, "forces_f32", "f32", 20.0 * kBodies * kSources, 20.0 * kBodies, busy);
  bodies.clean("single", forces_case<Root::single>).with({"block_shortage", "occupancy_limiter"});
  bodies.defect("softening", 0.4, forces_case<Root::softening>)
      .with({"block_shortage", "occupancy_limiter"});
  bodies.defect("root", 0.8, forces_case<Root::root>).with({"block_shortage", "occupancy_limiter"});
  bodies.defect("power", 1, forces_case<Root::power>).with({"block_shortage", "occupancy_limiter"});

  const double halves = 8.0 * kHalves;
  Shape conditioned(cases, kTool, "condition_f16", "f16", 16 * halves, 4 * halves,
                    {"dram", "alu", "latency"});
  conditioned.clean("suffixes", condition_case<0>);
  conditioned.defect("doubles2", 0.4, condition_case<2>);
  conditioned.defect("doubles8", 1, condition_case<8>);

  Shape waves(cases, kTool, "waves_f32", "f32", 32.0 * 4 * kWaves, 8.0 * kWaves, busy);
  waves.clean("single", waves_case<Sine::single>);
  waves.defect("phase", 0.5, waves_case<Sine::phase>);
  waves.defect("function", 1, waves_case<Sine::function>);

  Shape exact(cases, kTool, "exact_f64", "f64", 512.0 * kExact, 16.0 * kExact, busy);
  exact.tempting("unroll16", exact_case<double, 16>);
  exact.tempting("unroll4", exact_case<double, 4>);
  Shape widened(cases, kTool, "widened_f64", "f64", 512.0 * kExact, 12.0 * kExact, busy);
  widened.tempting("unroll16", exact_case<float, 16>);

  const double summed = 4096.0 * kSumRows;
  Shape sums(cases, kTool, "row_sums_f32", "f32", summed, 4 * summed, {"dram"});
  sums.clean("single", row_sums_case<float>);
  sums.tempting("double", row_sums_case<double>);

  Shape scaled(cases, kTool, "scale_f32", "f32", 4.0 * kScaled, 32.0 * kScaled, {"dram"});
  scaled.clean("suffixes", scale_case<false>);
  scaled.tempting("one_constant", scale_case<true>);

  Shape loop(cases, kTool, "long_loop_f32", "f32", 6144.0 * kValues, 8.0 * kValues, busy);
  loop.clean("never", long_loop_case<Once::never>);
  loop.tempting("before", long_loop_case<Once::first>);
  loop.tempting("rare_path", long_loop_case<Once::rare>);
}

}  // namespace defects
