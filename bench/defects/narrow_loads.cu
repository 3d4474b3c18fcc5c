// Narrow loads: each thread moves 1, 2 or 4 bytes where it could move 16.
#include "defects.cuh"

namespace defects {
namespace {

constexpr char kTool[] = "narrow_loads";

// ---- copy of bytes ----

constexpr std::size_t kCopyBytes = 256 * kMiB;

template <int WIDTH, int TURNS>
__global__ void copy_bytes(std::uint8_t* y, const std::uint8_t* x) {
  using Word = Pack<std::uint8_t, WIDTH>;
  const std::uint32_t base = blockIdx.x * (256 * TURNS) + threadIdx.x;
  Word value[TURNS];
#pragma unroll
  for (int k = 0; k < TURNS; ++k) value[k] = reinterpret_cast<const Word*>(x)[base + k * 256];
#pragma unroll
  for (int k = 0; k < TURNS; ++k) reinterpret_cast<Word*>(y)[base + k * 256] = value[k];
}

template <int WIDTH, int TURNS>
Work copy_case(Pool& pool) {
  auto* x = pool.random<std::uint8_t>(kCopyBytes);
  auto* y = pool.take<std::uint8_t>(kCopyBytes);
  constexpr int blocks = kCopyBytes / (256 * TURNS * WIDTH);
  return {[=] { copy_bytes<WIDTH, TURNS><<<blocks, 256>>>(y, x); }, output(y, kCopyBytes, 0)};
}

// ---- y = a x + y ----

constexpr std::size_t kAxpy = std::size_t{1} << 26;

template <int LANES, int TURNS>
__global__ void axpy(__half* y, const __half* x, float a) {
  using Word = Pack<__half, LANES>;
  const std::uint32_t base = blockIdx.x * (256 * TURNS) + threadIdx.x;
  Word left[TURNS];
  Word right[TURNS];
#pragma unroll
  for (int k = 0; k < TURNS; ++k) {
    left[k] = reinterpret_cast<const Word*>(x)[base + k * 256];
    right[k] = reinterpret_cast<const Word*>(y)[base + k * 256];
  }
#pragma unroll
  for (int k = 0; k < TURNS; ++k) {
#pragma unroll
    for (int j = 0; j < LANES; ++j) {
      from_float(right[k].v[j], fmaf(a, to_float(left[k].v[j]), to_float(right[k].v[j])));
    }
    reinterpret_cast<Word*>(y)[base + k * 256] = right[k];
  }
}

template <int LANES, int TURNS>
Work axpy_case(Pool& pool) {
  auto* x = pool.random<__half>(kAxpy);
  auto* y = pool.take<__half>(kAxpy);
  constexpr int blocks = kAxpy / (256 * TURNS * LANES);
  return {[=] { axpy<LANES, TURNS><<<blocks, 256>>>(y, x, 0.5f); }, output(y, kAxpy, 0)};
}

// ---- sums of rows, one block a row ----

constexpr int kSumRows = 8192;
constexpr int kSumColumns = 16384;

template <int LANES, int UNROLL>
__global__ void row_sums(float* y, const __nv_bfloat16* x) {
  using Word = Pack<__nv_bfloat16, LANES>;
  const auto* row =
      reinterpret_cast<const Word*>(x + static_cast<std::size_t>(blockIdx.x) * kSumColumns);
  float sum = 0;
#pragma unroll UNROLL
  for (int i = threadIdx.x; i < kSumColumns / LANES; i += 256) {
    const Word word = row[i];
#pragma unroll
    for (int j = 0; j < LANES; ++j) sum += to_float(word.v[j]);
  }
  sum = block_sum(sum);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}

template <int LANES, int UNROLL>
Work row_sums_case(Pool& pool) {
  auto* x = pool.random<__nv_bfloat16>(std::size_t{kSumRows} * kSumColumns);
  auto* y = pool.take<float>(kSumRows);
  return {[=] { row_sums<LANES, UNROLL><<<kSumRows, 256>>>(y, x); }, output(y, kSumRows, 1e-4)};
}

// ---- rows of a table taken by index ----

constexpr std::uint32_t kTakeRows = 1u << 20;
constexpr int kTakeColumns = 128;

__global__ void lay_out_index(std::uint32_t* index) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  index[i] = (i * 0x9e3779b1u + 77u) % kTakeRows;
}

// A block of 256 threads takes TURNS groups of rows.
template <int LANES, int TURNS>
__global__ void take_rows(__half* y, const __half* table, const std::uint32_t* index) {
  using Word = Pack<__half, LANES>;
  constexpr int words = kTakeColumns / LANES;
  constexpr int rows = 256 / words;
  const std::uint32_t first = blockIdx.x * (rows * TURNS) + threadIdx.x / words;
  const int word = threadIdx.x % words;
  Word value[TURNS];
#pragma unroll
  for (int k = 0; k < TURNS; ++k) {
    value[k] = reinterpret_cast<const Word*>(table)[index[first + k * rows] * words + word];
  }
#pragma unroll
  for (int k = 0; k < TURNS; ++k) {
    reinterpret_cast<Word*>(y)[(first + k * rows) * words + word] = value[k];
  }
}

template <int LANES, int TURNS>
Work take_rows_case(Pool& pool) {
  constexpr std::size_t count = std::size_t{kTakeRows} * kTakeColumns;
  auto* table = pool.random<__half>(count);
  auto* index = pool.take<std::uint32_t>(kTakeRows);
  auto* y = pool.take<__half>(count);
  lay_out_index<<<kTakeRows / 256, 256>>>(index);
  constexpr int blocks = kTakeRows / (256 / (kTakeColumns / LANES) * TURNS);
  return {[=] { take_rows<LANES, TURNS><<<blocks, 256>>>(y, table, index); }, output(y, count, 0)};
}

// ---- tempting: narrow loads before much arithmetic ----

constexpr std::size_t kPoly = std::size_t{1} << 24;

template <int LANES>
__global__ void polynomial(float* y, const float* x) {
  using Word = Pack<float, LANES>;
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  Word word = reinterpret_cast<const Word*>(x)[i];
#pragma unroll
  for (int j = 0; j < LANES; ++j) word.v[j] = fma_chain(word.v[j], 256);
  reinterpret_cast<Word*>(y)[i] = word;
}

template <int LANES>
Work polynomial_case(Pool& pool) {
  auto* x = pool.random<float>(kPoly);
  auto* y = pool.take<float>(kPoly);
  return {[=] { polynomial<LANES><<<kPoly / (256 * LANES), 256>>>(y, x); }, output(y, kPoly)};
}

// ---- tempting: narrow, but enough of them at once to fill the memory ----

constexpr std::size_t kScale = std::size_t{1} << 26;

template <int LANES, int TURNS>
__global__ void scale(float* y, const float* x, float a) {
  using Word = Pack<float, LANES>;
  const std::uint32_t base = blockIdx.x * (256 * TURNS) + threadIdx.x;
  Word value[TURNS];
#pragma unroll
  for (int k = 0; k < TURNS; ++k) value[k] = reinterpret_cast<const Word*>(x)[base + k * 256];
#pragma unroll
  for (int k = 0; k < TURNS; ++k) {
#pragma unroll
    for (int j = 0; j < LANES; ++j) value[k].v[j] *= a;
    reinterpret_cast<Word*>(y)[base + k * 256] = value[k];
  }
}

template <int LANES, int TURNS>
Work scale_case(Pool& pool) {
  auto* x = pool.random<float>(kScale);
  auto* y = pool.take<float>(kScale);
  constexpr int blocks = kScale / (256 * LANES * TURNS);
  return {[=] { scale<LANES, TURNS><<<blocks, 256>>>(y, x, 3.0f); }, output(y, kScale, 0)};
}

}  // namespace

void add_narrow_loads(Cases& cases) {
  Shape copy(cases, kTool, "copy_u8", "u8", 0, 2.0 * kCopyBytes, {"dram"});
  copy.clean("w16", copy_case<16, 2>);
  copy.clean("w8", copy_case<8, 4>);
  copy.defect("w2", 0.6, copy_case<2, 1>).with({"long_scoreboard"}).in({"latency", "l1"});
  copy.defect("w1", 1, copy_case<1, 1>).with({"long_scoreboard"}).in({"latency", "l1"});

  Shape axpy(cases, kTool, "axpy_f16", "f16", 2.0 * kAxpy, 6.0 * kAxpy, {"dram"});
  axpy.clean("w16", axpy_case<8, 2>);
  axpy.clean("w8", axpy_case<4, 4>);
  axpy.defect("w4", 0.3, axpy_case<2, 1>).in({"latency", "dram"});
  axpy.defect("w2", 0.8, axpy_case<1, 1>).with({"long_scoreboard"}).in({"latency", "l1"});

  Shape sums(cases, kTool, "row_sums_bf16", "bf16", 1.0 * kSumRows * kSumColumns,
             2.0 * kSumRows * kSumColumns, {"dram"});
  sums.clean("w16", row_sums_case<8, 4>);
  sums.clean("w8", row_sums_case<4, 8>);
  sums.defect("w4", 0.5, row_sums_case<2, 1>).with({"long_scoreboard"}).in({"latency"});
  sums.defect("w2", 0.9, row_sums_case<1, 1>).with({"long_scoreboard"}).in({"latency", "alu"});

  Shape take(cases, kTool, "take_rows_f16", "f16", 0, 4.0 * kTakeRows * kTakeColumns, {"dram"});
  take.clean("w16x2", take_rows_case<8, 2>);
  take.clean("w16x4", take_rows_case<8, 4>);
  take.defect("w4", 0.4, take_rows_case<2, 1>).with({"long_scoreboard"}).in({"latency", "dram"});
  take.defect("w2", 0.9, take_rows_case<1, 1>).with({"long_scoreboard"}).in({"latency", "l1"});

  Shape poly(cases, kTool, "polynomial_f32", "f32", 512.0 * kPoly, 8.0 * kPoly, {"alu"});
  poly.clean("w16", polynomial_case<4>);
  poly.tempting("w4", polynomial_case<1>);

  Shape scale(cases, kTool, "scale_f32", "f32", 1.0 * kScale, 8.0 * kScale, {"dram"});
  scale.clean("w16", scale_case<4, 4>);
  scale.tempting("w4x8", scale_case<1, 8>);
}

}  // namespace defects
