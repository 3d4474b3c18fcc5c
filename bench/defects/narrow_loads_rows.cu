// Narrow loads in kernels that work on rows and columns of matrices: further shapes of
// narrow_loads.cu.
#include "defects.cuh"

namespace defects {
namespace {

constexpr char kTool[] = "narrow_loads";

// ---- signed bytes times a factor of their row, one block a row ----

constexpr int kByteRows = 16384;
constexpr int kByteColumns = 8192;

template <int LANES, int UNROLL>
__global__ void dequantize(__half* __restrict__ y, const std::uint8_t* __restrict__ x,
                           const float* __restrict__ factors) {
  const std::size_t first = static_cast<std::size_t>(blockIdx.x) * kByteColumns;
  const auto* from = reinterpret_cast<const Pack<std::uint8_t, LANES>*>(x + first);
  auto* to = reinterpret_cast<Pack<__half, LANES>*>(y + first);
  const float factor = factors[blockIdx.x];
#pragma unroll UNROLL
  for (int i = threadIdx.x; i < kByteColumns / LANES; i += 256) {
    const Pack<std::uint8_t, LANES> word = from[i];
    Pack<__half, LANES> value;
#pragma unroll
    for (int j = 0; j < LANES; ++j) {
      value.v[j] =
          __float2half_rn(static_cast<float>(static_cast<std::int8_t>(word.v[j])) * factor);
    }
    to[i] = value;
  }
}

template <int LANES, int UNROLL>
Work dequantize_case(Pool& pool) {
  constexpr std::size_t count = std::size_t{kByteRows} * kByteColumns;
  auto* x = pool.random<std::uint8_t>(count);
  auto* factors = pool.random<float>(kByteRows);
  auto* y = pool.take<__half>(count);
  return {[=] { dequantize<LANES, UNROLL><<<kByteRows, 256>>>(y, x, factors); },
          output(y, count, 0)};
}

// ---- the largest of each column in stripes of rows ----

constexpr int kStripes = 512;
constexpr int kStripeRows = 64;
constexpr int kMaxColumns = 4096;

template <int LANES, int UNROLL>
__global__ void column_max(__nv_bfloat16* y, const __nv_bfloat16* x) {
  using Word = Pack<__nv_bfloat16, LANES>;
  constexpr int words = kMaxColumns / LANES;
  const int word = blockIdx.x * 256 + threadIdx.x;
  const auto* from = reinterpret_cast<const Word*>(x + static_cast<std::size_t>(blockIdx.y) *
                                                           kStripeRows * kMaxColumns) +
                     word;
  float most[LANES];
#pragma unroll
  for (float& each : most) each = -2.0f;  // below all values
#pragma unroll UNROLL
  for (int row = 0; row < kStripeRows; ++row) {
    const Word value = from[row * words];
#pragma unroll
    for (int j = 0; j < LANES; ++j) most[j] = fmaxf(most[j], to_float(value.v[j]));
  }
  Word result;
#pragma unroll
  for (int j = 0; j < LANES; ++j) from_float(result.v[j], most[j]);
  reinterpret_cast<Word*>(y)[blockIdx.y * words + word] = result;
}

template <int LANES, int UNROLL>
Work column_max_case(Pool& pool) {
  auto* x = pool.random<__nv_bfloat16>(std::size_t{kStripes} * kStripeRows * kMaxColumns);
  auto* y = pool.take<__nv_bfloat16>(std::size_t{kStripes} * kMaxColumns);
  const dim3 grid(kMaxColumns / (256 * LANES), kStripes);
  return {[=] { column_max<LANES, UNROLL><<<grid, 256>>>(y, x); },
          output(y, std::size_t{kStripes} * kMaxColumns, 0)};
}

// ---- rows of a table by token, plus rows of a small table by position ----

constexpr std::uint32_t kTokens = 1u << 18;
constexpr std::uint32_t kPositions = 2048;
constexpr int kWidth = 256;

// Every row once, neighbors far apart.
__global__ void lay_out_tokens(std::uint32_t* token) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  token[i] = (i * 0x85ebca6bu + 12345u) % kTokens;
}

template <int LANES, int TURNS>
__global__ void embed(float* y, const float* table, const float* positions,
                      const std::uint32_t* token) {
  using Word = Pack<float, LANES>;
  constexpr int words = kWidth / LANES;
  constexpr int rows = 256 / words;
  const std::uint32_t first = blockIdx.x * (rows * TURNS) + threadIdx.x / words;
  const int word = threadIdx.x % words;
  Word value[TURNS];
  Word place[TURNS];
#pragma unroll
  for (int k = 0; k < TURNS; ++k) {
    const std::uint32_t row = first + k * rows;
    value[k] = reinterpret_cast<const Word*>(table)[token[row] * words + word];
    place[k] = reinterpret_cast<const Word*>(positions)[row % kPositions * words + word];
  }
#pragma unroll
  for (int k = 0; k < TURNS; ++k) {
#pragma unroll
    for (int j = 0; j < LANES; ++j) value[k].v[j] += place[k].v[j];
    reinterpret_cast<Word*>(y)[(first + k * rows) * words + word] = value[k];
  }
}

template <int LANES, int TURNS>
Work embed_case(Pool& pool) {
  constexpr std::size_t count = std::size_t{kTokens} * kWidth;
  auto* table = pool.random<float>(count);
  auto* positions = pool.random<float>(std::size_t{kPositions} * kWidth);
  auto* token = pool.take<std::uint32_t>(kTokens);
  auto* y = pool.take<float>(count);
  lay_out_tokens<<<kTokens / 256, 256>>>(token);
  constexpr int blocks = kTokens / (256 / (kWidth / LANES) * TURNS);
  return {[=] { embed<LANES, TURNS><<<blocks, 256>>>(y, table, positions, token); },
          output(y, count, 0)};
}

// ---- lengths of rows, one warp a row ----

constexpr int kNormRows = 65536;
constexpr int kNormColumns = 1024;

template <int LANES, int UNROLL>
__global__ void row_norms(float* y, const float* x) {
  using Word = Pack<float, LANES>;
  const int row = blockIdx.x * 8 + threadIdx.x / 32;
  const auto* from =
      reinterpret_cast<const Word*>(x + static_cast<std::size_t>(row) * kNormColumns);
  float sum = 0;
#pragma unroll UNROLL
  for (int i = 0; i < kNormColumns / LANES; i += 32) {
    const Word word = from[i + threadIdx.x % 32];
#pragma unroll
    for (int j = 0; j < LANES; ++j) sum = fmaf(word.v[j], word.v[j], sum);
  }
  sum = warp_sum(sum);
  if (threadIdx.x % 32 == 0) y[row] = sqrtf(sum);
}

template <int LANES, int UNROLL>
Work row_norms_case(Pool& pool) {
  auto* x = pool.random<float>(std::size_t{kNormRows} * kNormColumns);
  auto* y = pool.take<float>(kNormRows);
  return {[=] { row_norms<LANES, UNROLL><<<kNormRows / 8, 256>>>(y, x); },
          output(y, kNormRows, 1e-4)};
}

// ---- rows of two matrices against each other, one warp a pair ----

constexpr int kPairs = 32768;

struct DotProduct {
  static constexpr int columns = 2048;
  __device__ static float of(__half a, __half b) { return to_float(a) * to_float(b); }
};

struct Distance {
  static constexpr int columns = 1024;
  __device__ static float of(float a, float b) { return fabsf(a - b); }
};

template <class Term, int LANES, int UNROLL, class T>
__global__ void sum_terms(float* y, const T* a, const T* b) {
  using Word = Pack<T, LANES>;
  const int row = blockIdx.x * 8 + threadIdx.x / 32;
  const std::size_t first = static_cast<std::size_t>(row) * Term::columns;
  const auto* left = reinterpret_cast<const Word*>(a + first) + threadIdx.x % 32;
  const auto* right = reinterpret_cast<const Word*>(b + first) + threadIdx.x % 32;
  float sum = 0;
#pragma unroll UNROLL
  for (int i = 0; i < Term::columns / LANES; i += 32) {
    const Word x = left[i];
    const Word z = right[i];
#pragma unroll
    for (int j = 0; j < LANES; ++j) sum += Term::of(x.v[j], z.v[j]);
  }
  sum = warp_sum(sum);
  if (threadIdx.x % 32 == 0) y[row] = sum;
}

template <class Term, class T, int LANES, int UNROLL>
Work terms_case(Pool& pool) {
  auto* a = pool.random<T>(std::size_t{kPairs} * Term::columns);
  auto* b = pool.random<T>(std::size_t{kPairs} * Term::columns);
  auto* y = pool.take<float>(kPairs);
  return {[=] { sum_terms<Term, LANES, UNROLL><<<kPairs / 8, 256>>>(y, a, b); },
          output(y, kPairs, 1e-4)};
}

// ---- rows divided by their root mean square, one block a row ----

constexpr int kRmsRows = 16384;
constexpr int kRmsColumns = 8192;

template <int LANES, int UNROLL>
__global__ void rms_norm(__nv_bfloat16* __restrict__ y, const __nv_bfloat16* __restrict__ x,
                         const __nv_bfloat16* __restrict__ gain) {
  using Word = Pack<__nv_bfloat16, LANES>;
  const std::size_t first = static_cast<std::size_t>(blockIdx.x) * kRmsColumns;
  const auto* from = reinterpret_cast<const Word*>(x + first);
  auto* to = reinterpret_cast<Word*>(y + first);
  float sum = 0;
#pragma unroll UNROLL
  for (int i = threadIdx.x; i < kRmsColumns / LANES; i += 256) {
    const Word word = from[i];
#pragma unroll
    for (int j = 0; j < LANES; ++j) sum = fmaf(to_float(word.v[j]), to_float(word.v[j]), sum);
  }
  __shared__ float shared_factor;
  sum = block_sum(sum);
  if (threadIdx.x == 0) shared_factor = rsqrtf(sum / kRmsColumns + 1e-6f);
  __syncthreads();
  const float factor = shared_factor;
#pragma unroll UNROLL
  for (int i = threadIdx.x; i < kRmsColumns / LANES; i += 256) {
    Word word = from[i];
    const Word scale = reinterpret_cast<const Word*>(gain)[i];
#pragma unroll
    for (int j = 0; j < LANES; ++j) {
      from_float(word.v[j], to_float(word.v[j]) * factor * to_float(scale.v[j]));
    }
    to[i] = word;
  }
}

template <int LANES, int UNROLL>
Work rms_norm_case(Pool& pool) {
  constexpr std::size_t count = std::size_t{kRmsRows} * kRmsColumns;
  auto* x = pool.random<__nv_bfloat16>(count);
  auto* gain = pool.random<__nv_bfloat16>(kRmsColumns);
  auto* y = pool.take<__nv_bfloat16>(count);
  return {[=] { rms_norm<LANES, UNROLL><<<kRmsRows, 256>>>(y, x, gain); }, output(y, count, 1e-2)};
}

// ---- pairs of neighbors turned by an angle of their token and place, one block a token ----

constexpr int kTurnTokens = 16384;
constexpr int kTurnColumns = 4096;  // 32 heads
constexpr int kHead = 128;

// The pair (a, b) turned; cosine and sine stand side by side.
__device__ __forceinline__ void turn(__half& a, __half& b, float cosine, float sine) {
  const float x = to_float(a);
  const float y = to_float(b);
  from_float(a, fmaf(x, cosine, -y * sine));
  from_float(b, fmaf(x, sine, y * cosine));
}

template <int LANES, int UNROLL>
__global__ void turn_pairs(__half* __restrict__ y, const __half* __restrict__ x,
                           const float* __restrict__ angles) {
  using Word = Pack<__half, LANES>;
  const std::size_t first = static_cast<std::size_t>(blockIdx.x) * kTurnColumns;
  const auto* own_angles = reinterpret_cast<const Pack<float, LANES>*>(angles + blockIdx.x * kHead);
  const auto* from = reinterpret_cast<const Word*>(x + first);
  auto* to = reinterpret_cast<Word*>(y + first);
#pragma unroll UNROLL
  for (int i = threadIdx.x; i < kTurnColumns / LANES; i += 256) {
    Word word = from[i];
    const Pack<float, LANES> angle = own_angles[i % (kHead / LANES)];
#pragma unroll
    for (int j = 0; j < LANES; j += 2) {
      turn(word.v[j], word.v[j + 1], angle.v[j], angle.v[j + 1]);
    }
    to[i] = word;
  }
}

// Each element of a pair by itself.
__global__ void turn_pairs_by_parts(__half* __restrict__ y, const __half* __restrict__ x,
                                    const float* __restrict__ angles) {
  const std::size_t first = static_cast<std::size_t>(blockIdx.x) * kTurnColumns;
  const float* own_angles = angles + blockIdx.x * kHead;
#pragma unroll 1
  for (int i = threadIdx.x * 2; i < kTurnColumns; i += 512) {
    __half a = x[first + i];
    __half b = x[first + i + 1];
    turn(a, b, own_angles[i % kHead], own_angles[i % kHead + 1]);
    y[first + i] = a;
    y[first + i + 1] = b;
  }
}

template <class Kernel>
Prepare turn_case(Kernel* kernel) {
  return [kernel](Pool& pool) -> Work {
    constexpr std::size_t count = std::size_t{kTurnTokens} * kTurnColumns;
    auto* x = pool.random<__half>(count);
    auto* angles = pool.random<float>(std::size_t{kTurnTokens} * kHead);
    auto* y = pool.take<__half>(count);
    return {[=] { kernel<<<kTurnTokens, 256>>>(y, x, angles); }, output(y, count, 2e-3)};
  };
}

}  // namespace

void add_narrow_loads_rows(Cases& cases) {
  const std::vector<std::string> waits = {"long_scoreboard"};
  constexpr double bytes = 1.0 * kByteRows * kByteColumns;
  Shape quantized(cases, kTool, "dequantize_i8", "f16", bytes, 3 * bytes, {"dram"});
  quantized.clean("w8", dequantize_case<8, 4>);
  quantized.defect("w4", 0.3, dequantize_case<4, 1>).with(waits).in({"latency", "dram"});
  quantized.defect("w2", 0.6, dequantize_case<2, 1>).with(waits).in({"latency", "l1"});
  quantized.defect("w1", 1, dequantize_case<1, 1>).with(waits).in({"latency", "l1", "alu"});

  constexpr double compared = 1.0 * kStripes * kStripeRows * kMaxColumns;
  Shape most(cases, kTool, "column_max_bf16", "bf16", compared, 2 * compared, {"dram"});
  most.clean("w16", column_max_case<8, 4>);
  most.clean("w8", column_max_case<4, 8>);
  most.defect("w4", 0.4, column_max_case<2, 1>).with(waits).in({"latency"});
  most.defect("w2", 0.8, column_max_case<1, 2>).with(waits).in({"latency", "l1"});

  constexpr double embedded = 1.0 * kTokens * kWidth;
  Shape embedding(cases, kTool, "embedding_f32", "f32", embedded, 8 * embedded, {"dram"});
  embedding.clean("w16", embed_case<4, 2>);
  embedding.defect("w8", 0.2, embed_case<2, 1>).with(waits).in({"latency", "dram"});
  embedding.defect("w4", 0.5, embed_case<1, 1>).with(waits).in({"latency", "l1"});

  constexpr double squared = 1.0 * kNormRows * kNormColumns;
  Shape norms(cases, kTool, "row_norms_f32", "f32", 2 * squared, 4 * squared, {"dram"});
  norms.clean("w16", row_norms_case<4, 8>);
  norms.tempting("w4x16", row_norms_case<1, 16>);
  norms.defect("w8", 0.4, row_norms_case<2, 1>).with(waits).in({"latency"});
  norms.defect("w4", 0.7, row_norms_case<1, 1>).with(waits).in({"latency"});

  constexpr double multiplied = 1.0 * kPairs * DotProduct::columns;
  Shape dots(cases, kTool, "dots_f16", "f16", 2 * multiplied, 4 * multiplied, {"dram"});
  dots.clean("w16", terms_case<DotProduct, __half, 8, 4>);
  dots.defect("w4", 0.5, terms_case<DotProduct, __half, 2, 1>).with(waits).in({"latency"});
  dots.defect("w2", 0.9, terms_case<DotProduct, __half, 1, 1>).with(waits).in({"latency", "l1"});

  constexpr double apart = 1.0 * kPairs * Distance::columns;
  Shape distances(cases, kTool, "distances_f32", "f32", 2 * apart, 8 * apart, {"dram"});
  distances.clean("w16", terms_case<Distance, float, 4, 4>);
  distances.defect("w8", 0.3, terms_case<Distance, float, 2, 1>).with(waits).in({"latency"});
  distances.defect("w4", 0.6, terms_case<Distance, float, 1, 1>).with(waits).in({"latency"});

  constexpr double scaled = 1.0 * kRmsRows * kRmsColumns;
  const std::vector<std::string> waits_together = {"long_scoreboard", "barrier_stalls"};
  Shape rms(cases, kTool, "rms_norm_bf16", "bf16", 4 * scaled, 4 * scaled, {"dram"});
  rms.clean("w16", rms_norm_case<8, 4>);
  rms.defect("w4", 0.5, rms_norm_case<2, 1>).with(waits_together).in({"latency", "l1"});
  rms.defect("w2", 0.9, rms_norm_case<1, 1>).with(waits_together).in({"latency", "l1", "alu"});

  constexpr double turned = 1.0 * kTurnTokens * kTurnColumns;
  Shape rotary(cases, kTool, "rotary_f16", "f16", 3 * turned, 4 * turned, {"dram"});
  rotary.clean("w16", turn_case(turn_pairs<8, 2>));
  rotary.defect("w4", 0.4, turn_case(turn_pairs<2, 1>)).with(waits).in({"latency", "l1"});
  rotary.defect("w2", 0.8, turn_case(turn_pairs_by_parts))
      .with({"long_scoreboard", "uncoalesced_access"})
      .in({"latency", "l1"});
}

}  // namespace defects
