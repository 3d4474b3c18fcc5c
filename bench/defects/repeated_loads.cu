// Repeated loads: the same global data loaded again and again by a thread or by its neighbors,
// where registers or shared memory could keep it.
#include "defects.cuh"

namespace defects {
namespace {

constexpr char kTool[] = "repeated_loads";

// ---- the greatest of each window of 33 values ----

constexpr int kRadius = 16;
constexpr std::uint32_t kLine = 1u << 24;

// RESULTS neighbors a thread; what their windows share is loaded once.
template <int RESULTS>
__global__ void __launch_bounds__(256) windows(float* y, const float* x) {
  const std::uint32_t first = (blockIdx.x * 256 + threadIdx.x) * RESULTS;
  float value[RESULTS + 2 * kRadius];
#pragma unroll
  for (int k = 0; k < RESULTS + 2 * kRadius; ++k) value[k] = x[first + k];
#pragma unroll
  for (int r = 0; r < RESULTS; ++r) {
    float most = value[r];
#pragma unroll
    for (int k = 1; k <= 2 * kRadius; ++k) most = fmaxf(most, value[r + k]);
    y[first + r] = most;
  }
}

// The block's part in shared memory.
__global__ void __launch_bounds__(256) windows_shared(float* y, const float* x) {
  __shared__ __align__(16) float part[1024 + 2 * kRadius];
  const std::uint32_t first = blockIdx.x * 1024;
  for (int k = threadIdx.x; k < 1024 + 2 * kRadius; k += 256) part[k] = x[first + k];
  __syncthreads();
  __align__(16) float value[4 + 2 * kRadius];
#pragma unroll
  for (int k = 0; k < 4 + 2 * kRadius; k += 4) {
    *reinterpret_cast<float4*>(value + k) =
        *reinterpret_cast<const float4*>(part + threadIdx.x * 4 + k);
  }
  float4 most;
  float* out = &most.x;
#pragma unroll
  for (int r = 0; r < 4; ++r) {
    out[r] = value[r];
#pragma unroll
    for (int k = 1; k <= 2 * kRadius; ++k) out[r] = fmaxf(out[r], value[r + k]);
  }
  reinterpret_cast<float4*>(y)[first / 4 + threadIdx.x] = most;
}

template <int RESULTS>
Work windows_case(Pool& pool) {
  auto* x = pool.random<float>(kLine + 1024);
  auto* y = pool.take<float>(kLine);
  return {[=] { windows<RESULTS><<<kLine / (256 * RESULTS), 256>>>(y, x); }, output(y, kLine, 0)};
}

Work windows_shared_case(Pool& pool) {
  auto* x = pool.random<float>(kLine + 1024);
  auto* y = pool.take<float>(kLine);
  return {[=] { windows_shared<<<kLine / 1024, 256>>>(y, x); }, output(y, kLine, 0)};
}

// ---- distances of all pairs of vectors: the sum of absolute differences ----

constexpr int kPoints = 4096;
constexpr int kParts = 256;

// Vectors lie part by part: x[part][vector]. SIDE x SIDE results a thread.
template <int SIDE>
__global__ void __launch_bounds__(256) distances(float* y, const float* x, const float* z) {
  const int column = (blockIdx.x * 16 + threadIdx.x % 16) * SIDE;
  const int row = (blockIdx.y * 16 + threadIdx.x / 16) * SIDE;
  float sum[SIDE][SIDE] = {};
#pragma unroll 4
  for (int part = 0; part < kParts; ++part) {
    const auto a = *reinterpret_cast<const Pack<float, SIDE>*>(x + part * kPoints + row);
    const auto b = *reinterpret_cast<const Pack<float, SIDE>*>(z + part * kPoints + column);
#pragma unroll
    for (int r = 0; r < SIDE; ++r) {
#pragma unroll
      for (int c = 0; c < SIDE; ++c) sum[r][c] += fabsf(a.v[r] - b.v[c]);
    }
  }
#pragma unroll
  for (int r = 0; r < SIDE; ++r) {
#pragma unroll
    for (int c = 0; c < SIDE; ++c) y[(row + r) * kPoints + column + c] = sum[r][c];
  }
}

template <int SIDE>
Work distances_case(Pool& pool) {
  auto* x = pool.random<float>(kPoints * kParts);
  auto* z = pool.random<float>(kPoints * kParts);
  auto* y = pool.take<float>(kPoints * kPoints);
  constexpr int blocks = kPoints / (16 * SIDE);
  return {[=] { distances<SIDE><<<dim3(blocks, blocks), 256>>>(y, x, z); },
          output(y, kPoints * kPoints, 1e-4)};
}

// The same for words: the greatest difference by bits.
template <int SIDE>
__global__ void __launch_bounds__(256)
    differences(std::int32_t* y, const std::int32_t* x, const std::int32_t* z) {
  using Words = Pack<std::int32_t, SIDE>;
  const int column = (blockIdx.x * 16 + threadIdx.x % 16) * SIDE;
  const int row = (blockIdx.y * 16 + threadIdx.x / 16) * SIDE;
  std::int32_t most[SIDE][SIDE] = {};
#pragma unroll 4
  for (int part = 0; part < kParts; ++part) {
    const auto a = *reinterpret_cast<const Words*>(x + part * kPoints + row);
    const auto b = *reinterpret_cast<const Words*>(z + part * kPoints + column);
#pragma unroll
    for (int r = 0; r < SIDE; ++r) {
#pragma unroll
      for (int c = 0; c < SIDE; ++c) most[r][c] = max(most[r][c], a.v[r] ^ b.v[c]);
    }
  }
#pragma unroll
  for (int r = 0; r < SIDE; ++r) {
#pragma unroll
    for (int c = 0; c < SIDE; ++c) y[(row + r) * kPoints + column + c] = most[r][c];
  }
}

template <int SIDE>
Work differences_case(Pool& pool) {
  auto* x = pool.random<std::int32_t>(kPoints * kParts);
  auto* z = pool.random<std::int32_t>(kPoints * kParts);
  auto* y = pool.take<std::int32_t>(kPoints * kPoints);
  constexpr int blocks = kPoints / (16 * SIDE);
  return {[=] { differences<SIDE><<<dim3(blocks, blocks), 256>>>(y, x, z); },
          output(y, kPoints * kPoints, 0)};
}

// ---- rows that are brought to mean 0 and variance 1 ----

__device__ __forceinline__ float sum_for_all(float value) {
  __shared__ float total;
  __syncthreads();
  value = block_sum(value);
  if (threadIdx.x == 0) total = value;
  __syncthreads();
  return total;
}

__device__ __forceinline__ float sum_of(float4 word, float mean, bool squares) {
  const float4 d = {word.x - mean, word.y - mean, word.z - mean, word.w - mean};
  return squares ? (d.x * d.x + d.y * d.y) + (d.z * d.z + d.w * d.w) : (d.x + d.y) + (d.z + d.w);
}

__device__ __forceinline__ float4 brought(float4 word, float mean, float scale) {
  return {(word.x - mean) * scale, (word.y - mean) * scale, (word.z - mean) * scale,
          (word.w - mean) * scale};
}

// READS times from memory: 3 is once for the mean, once for the variance, once for the result.
// A thread has WORDS of four values.
template <int THREADS, int WORDS, int READS>
__global__ void __launch_bounds__(THREADS) normalized(float4* y, const float4* x) {
  constexpr int columns = THREADS * WORDS * 4;
  const float4* row = x + std::size_t{blockIdx.x} * (THREADS * WORDS) + threadIdx.x;
  float4* out = y + std::size_t{blockIdx.x} * (THREADS * WORDS) + threadIdx.x;
  float4 word[WORDS];
  float sum = 0;
#pragma unroll
  for (int k = 0; k < WORDS; ++k) {
    word[k] = row[k * THREADS];
    sum += sum_of(word[k], 0, false);
  }
  const float mean = sum_for_all(sum) / columns;
  float squares = 0;
#pragma unroll
  for (int k = 0; k < WORDS; ++k) {
    squares += sum_of(READS >= 3 ? row[k * THREADS] : word[k], mean, true);
  }
  const float scale = rsqrtf(sum_for_all(squares) / columns + 1e-5f);
#pragma unroll
  for (int k = 0; k < WORDS; ++k) {
    out[k * THREADS] = brought(READS >= 2 ? row[k * THREADS] : word[k], mean, scale);
  }
}

template <int THREADS, int WORDS, int READS>
Work normalized_case(Pool& pool) {
  constexpr std::size_t count = std::size_t{1} << 27;
  constexpr int rows = count / (THREADS * WORDS * 4);
  auto* x = pool.random<float>(count);
  auto* y = pool.take<float>(count);
  return {[=] {
            normalized<THREADS, WORDS, READS><<<rows, THREADS>>>(
                reinterpret_cast<float4*>(y), reinterpret_cast<const float4*>(x));
          },
          output(y, count, 1e-4)};
}

// ---- a recursion whose state is in memory ----

constexpr int kTurns = 256;
constexpr std::uint32_t kStates = kMultiprocessors * 2048 * 4;

// The state is read and written once in EVERY turns; 0: at the end alone.
template <int EVERY>
__global__ void __launch_bounds__(256) recursion(float* y, const float* x) {
  const std::uint32_t i = blockIdx.x * 256 + threadIdx.x;
  y[i] = x[i];
  if (EVERY == 0) {
    float value = x[i];
#pragma unroll 8
    for (int turn = 0; turn < kTurns; ++turn) value = fmaf(value, -0.5f, fabsf(value) - 0.1f);
    y[i] = value;
    return;
  }
  constexpr int inner = EVERY == 0 ? 1 : EVERY;
#pragma unroll 1
  for (int turn = 0; turn < kTurns; turn += inner) {
    float value = y[i];
#pragma unroll
    for (int k = 0; k < inner; ++k) value = fmaf(value, -0.5f, fabsf(value) - 0.1f);
    y[i] = value;
    __syncwarp();
  }
}

template <int EVERY>
Work recursion_case(Pool& pool) {
  auto* x = pool.random<float>(kStates);
  auto* y = pool.take<float>(kStates);
  return {[=] { recursion<EVERY><<<kStates / 256, 256>>>(y, x); }, output(y, kStates)};
}

// ---- polynomials: coefficients that a store could change ----

constexpr int kCoefficients = 32;
constexpr int kResults = 32;
constexpr std::uint32_t kArguments = kMultiprocessors * 2048 * 2;

// The first KEPT coefficients stay in registers; the others are loaded for each result, because the
// results could be the same memory.
template <int KEPT>
__global__ void __launch_bounds__(256) polynomials(float* y, const float* x, const float* c) {
  const std::uint32_t i = blockIdx.x * 256 + threadIdx.x;
  float kept[kCoefficients];
#pragma unroll
  for (int k = 0; k < KEPT; ++k) kept[k] = c[k];
#pragma unroll 1
  for (int r = 0; r < kResults; ++r) {
    const float value = x[(r % 4) * kArguments + i];
    float sum = 0;
#pragma unroll
    for (int k = 0; k < kCoefficients; ++k) sum = fmaf(sum, value, k < KEPT ? kept[k] : c[k]);
    y[(r % 4) * kArguments + i] = sum;
  }
}

template <int KEPT>
Work polynomials_case(Pool& pool) {
  auto* x = pool.random<float>(kArguments * 4);
  auto* c = pool.random<float>(kCoefficients);
  auto* y = pool.take<float>(kArguments * 4);
  return {[=] { polynomials<KEPT><<<kArguments / 256, 256>>>(y, x, c); },
          output(y, kArguments * 4, 1e-3)};
}

// ---- sums of 27 neighbors in a volume ----

constexpr int kSide = 256;
constexpr int kPlanes = 256;

__device__ __forceinline__ float nine(const float* x) {
  float sum = 0;
#pragma unroll
  for (int r = 0; r < 3; ++r) {
    sum += (x[r * (kSide + 32)] + x[r * (kSide + 32) + 1]) + x[r * (kSide + 32) + 2];
  }
  return sum;
}

// DEPTH results a thread, one above the other, share what they load.
template <int DEPTH>
__global__ void __launch_bounds__(256) boxes(float* y, const float* x) {
  constexpr int plane = (kSide + 32) * (kSide + 2);
  const float* from = x + blockIdx.x * DEPTH * plane + blockIdx.y * (kSide + 32) + threadIdx.x;
  float* to = y + (blockIdx.x * DEPTH * kSide + blockIdx.y) * kSide + threadIdx.x;
  float low = nine(from);
  float middle = nine(from + plane);
#pragma unroll 4
  for (int k = 0; k < DEPTH; ++k) {
    const float high = nine(from + (k + 2) * plane);
    to[k * (kSide * kSide)] = low + middle + high;
    low = middle;
    middle = high;
  }
}

template <int DEPTH>
Work boxes_case(Pool& pool) {
  auto* x = pool.random<float>((kSide + 32) * (kSide + 2) * (kPlanes + 2));
  auto* y = pool.take<float>(kSide * kSide * kPlanes);
  return {[=] { boxes<DEPTH><<<dim3(kPlanes / DEPTH, kSide), kSide>>>(y, x); },
          output(y, kSide * kSide * kPlanes, 1e-4)};
}

// ---- tempting: neighbors' differences and a star of five, which memory bounds ----

constexpr std::uint32_t kRow = 8192;
constexpr std::uint32_t kRows = 8192;

template <bool SHUFFLES>
__global__ void __launch_bounds__(256) slopes(float4* y, const float4* x) {
  const std::uint32_t i = blockIdx.x * 256 + threadIdx.x;
  const float4 word = x[i];
  float next = SHUFFLES ? __shfl_down_sync(~0u, word.x, 1) : 0;
  if (!SHUFFLES || threadIdx.x % 32 == 31) next = x[i + 1].x;
  y[i] = {word.y - word.x, word.z - word.y, word.w - word.z, next - word.w};
}

template <bool SHUFFLES>
Work slopes_case(Pool& pool) {
  constexpr std::size_t count = std::size_t{kRow} * kRows;
  auto* x = pool.random<float>(count + 1024);
  auto* y = pool.take<float>(count);
  return {[=] {
            slopes<SHUFFLES><<<count / 1024, 256>>>(reinterpret_cast<float4*>(y),
                                                    reinterpret_cast<const float4*>(x));
          },
          output(y, count, 0)};
}

// DEPTH rows a thread; the rows between are loaded once.
template <int DEPTH>
__global__ void __launch_bounds__(256) stars(float4* y, const float4* x) {
  constexpr std::uint32_t row = kRow / 4;
  const std::uint32_t i = (blockIdx.y * DEPTH + 1) * row + blockIdx.x * 256 + threadIdx.x + 1;
  float4 above = x[i - row];
  float4 own = x[i];
#pragma unroll
  for (std::uint32_t k = 0; k < DEPTH; ++k) {
    const std::uint32_t at = i + k * row;
    const float4 below = x[at + row];
    const float left = reinterpret_cast<const float*>(x)[at * 4 - 1];
    const float right = reinterpret_cast<const float*>(x)[at * 4 + 4];
    y[at] = {above.x + below.x + left + own.y - 4 * own.x,
             above.y + below.y + own.x + own.z - 4 * own.y,
             above.z + below.z + own.y + own.w - 4 * own.z,
             above.w + below.w + own.z + right - 4 * own.w};
    above = own;
    own = below;
  }
}

template <int DEPTH>
Work stars_case(Pool& pool) {
  constexpr std::size_t count = std::size_t{kRow} * (kRows + 3);
  auto* x = pool.random<float>(count);
  auto* y = pool.take<float>(count);
  return {[=] {
            stars<DEPTH><<<dim3(kRow / 1024, kRows / DEPTH), 256>>>(
                reinterpret_cast<float4*>(y), reinterpret_cast<const float4*>(x));
          },
          output(y, count, 1e-5)};
}

// ---- tempting: a vector that all rows of a matrix read, while the matrix streams ----

constexpr int kMatrixRows = 32768;
constexpr int kMatrixColumns = 4096;

template <bool SHARED>
__global__ void __launch_bounds__(256) matrix_vector(float* y, const float4* a, const float4* x) {
  __shared__ float4 part[SHARED ? kMatrixColumns / 4 : 1];
  if (SHARED) {
    for (int k = threadIdx.x; k < kMatrixColumns / 4; k += 256) part[k] = x[k];
    __syncthreads();
  }
  const int lane = threadIdx.x % 32;
#pragma unroll 1
  for (int turn = 0; turn < 4; ++turn) {
    const int row = (blockIdx.x * 4 + turn) * 8 + threadIdx.x / 32;
    float sum = 0;
#pragma unroll 8
    for (int k = lane; k < kMatrixColumns / 4; k += 32) {
      const float4 m = a[std::size_t(row) * (kMatrixColumns / 4) + k];
      const float4 v = SHARED ? part[k] : x[k];
      sum += (m.x * v.x + m.y * v.y) + (m.z * v.z + m.w * v.w);
    }
    sum = warp_sum(sum);
    if (lane == 0) y[row] = sum;
  }
}

template <bool SHARED>
Work matrix_vector_case(Pool& pool) {
  auto* a = pool.random<float>(std::size_t{kMatrixRows} * kMatrixColumns);
  auto* x = pool.random<float>(kMatrixColumns);
  auto* y = pool.take<float>(kMatrixRows);
  return {[=] {
            matrix_vector<SHARED><<<kMatrixRows / 32, 256>>>(y, reinterpret_cast<const float4*>(a),
                                                             reinterpret_cast<const float4*>(x));
          },
          output(y, kMatrixRows, 1e-3)};
}

// ---- tempting: values that all threads load again, with much arithmetic for each ----

constexpr std::uint32_t kBusy = kMultiprocessors * 2048 * 4;

template <bool SHARED>
__global__ void __launch_bounds__(256) busy(float* y, const float* x, const float* c) {
  __shared__ float part[64];
  if (SHARED && threadIdx.x < 64) part[threadIdx.x] = c[threadIdx.x];
  __syncthreads();
  const std::uint32_t i = blockIdx.x * 256 + threadIdx.x;
  float value = x[i];
#pragma unroll 1
  for (int k = 0; k < 64; ++k) value = fma_chain(value + (SHARED ? part[k] : c[k]), 32);
  y[i] = value;
}

template <bool SHARED>
Work busy_case(Pool& pool) {
  auto* x = pool.random<float>(kBusy);
  auto* c = pool.random<float>(64);
  auto* y = pool.take<float>(kBusy);
  return {[=] { busy<SHARED><<<kBusy / 256, 256>>>(y, x, c); }, output(y, kBusy, 1e-4)};
}

// ---- tempting: a walk through a table, by what it finds there ----

constexpr std::uint32_t kWalkers = kMultiprocessors * 2048;

template <int STEPS>
__global__ void __launch_bounds__(256)
    walks(std::uint32_t* y, const std::uint32_t* x, const std::uint32_t* table) {
  const std::uint32_t i = blockIdx.x * 256 + threadIdx.x;
  std::uint32_t place = x[i] % 4096;
#pragma unroll 4
  for (int k = 0; k < STEPS; ++k) place = table[place] ^ (k & 7);
  y[i] = place;
}

template <int STEPS>
Work walks_case(Pool& pool) {
  auto* x = pool.random<std::uint32_t>(kWalkers);
  auto* table = pool.random_below(4096 + 8, 4096);
  auto* y = pool.take<std::uint32_t>(kWalkers);
  return {[=] { walks<STEPS><<<kWalkers / 256, 256>>>(y, x, table); }, output(y, kWalkers, 0)};
}

}  // namespace

void add_repeated_loads(Cases& cases) {
  const std::vector<std::string> again = {"l1", "l2", "latency", "alu"};
  Shape windows(cases, kTool, "windows_f32", "f32", 32.0 * kLine, 8.0 * kLine,
                {"alu", "l1", "dram"});
  windows.clean("shared", windows_shared_case);
  windows.defect("results2", 0.6, windows_case<2>).with({"uncoalesced_access"}).in(again);
  windows.defect("results1", 1, windows_case<1>).in(again);

  const double pairs = 1.0 * kPoints * kPoints;
  Shape distances(cases, kTool, "distances_f32", "f32", 2 * kParts * pairs, 4 * pairs,
                  {"alu", "l1", "latency"});
  distances.clean("side8", distances_case<8>).with({"long_scoreboard", "occupancy_limiter"});
  distances.clean("side4", distances_case<4>).with({"long_scoreboard", "occupancy_limiter"});
  distances.defect("side2", 0.6, distances_case<2>)
      .with({"long_scoreboard", "occupancy_limiter"})
      .in(again);
  distances.defect("side1", 1, distances_case<1>)
      .with({"long_scoreboard", "occupancy_limiter"})
      .in(again);

  Shape differences(cases, kTool, "differences_i32", "i32", 2 * kParts * pairs, 4 * pairs,
                    {"alu", "l1", "latency"});
  differences.clean("side8", differences_case<8>).with({"long_scoreboard", "occupancy_limiter"});
  differences.defect("side2", 0.6, differences_case<2>)
      .with({"long_scoreboard", "occupancy_limiter"})
      .in(again);
  differences.defect("side1", 1, differences_case<1>)
      .with({"long_scoreboard", "occupancy_limiter"})
      .in(again);

  // No work is declared: with it, reading again from L2 or DRAM is what excess_traffic tells.
  Shape rows(cases, kTool, "normalized_f32", "f32", 0, 0, {"dram", "latency"});
  rows.clean("registers", normalized_case<512, 8, 1>);
  rows.defect("reads2", 0.6, normalized_case<512, 8, 2>).in({"dram", "l2", "latency"});
  rows.defect("reads3", 1, normalized_case<512, 8, 3>).in({"dram", "l2", "latency"});

  Shape recursion(cases, kTool, "recursion_f32", "f32", 3.0 * kTurns * kStates, 8.0 * kStates,
                  {"alu", "latency"});
  recursion.clean("register", recursion_case<0>);
  recursion.defect("every8", 0.6, recursion_case<8>).with({"excess_traffic"}).in(again);
  recursion.defect("every1", 1, recursion_case<1>).with({"excess_traffic"}).in(again);

  Shape polynomials(cases, kTool, "polynomials_f32", "f32",
                    2.0 * kCoefficients * kResults * kArguments, 32.0 * kArguments,
                    {"alu", "latency", "l2", "l1"});
  polynomials.clean("kept32", polynomials_case<32>);
  polynomials.defect("kept16", 0.5, polynomials_case<16>).in(again);
  polynomials.defect("kept0", 1, polynomials_case<0>).in(again);

  const double volume = 1.0 * kSide * kSide * kPlanes;
  Shape boxes(cases, kTool, "boxes_f32", "f32", 27 * volume, 8 * volume,
              {"dram", "l1", "latency", "alu"});
  boxes.clean("depth16", boxes_case<16>);
  boxes.defect("depth2", 0.5, boxes_case<2>).with({"excess_traffic"}).in(again);
  boxes.defect("depth1", 1, boxes_case<1>).with({"excess_traffic"}).in(again);

  Shape small(cases, kTool, "small_rows_f32", "f32", 0, 0, {"dram"});
  small.clean("registers", normalized_case<256, 1, 1>);
  small.tempting("reads2", normalized_case<256, 1, 2>);

  const double picture = 1.0 * kRow * kRows;
  Shape slopes(cases, kTool, "slopes_f32", "f32", picture, 8 * picture, {"dram"});
  slopes.clean("shuffles", slopes_case<true>);
  slopes.tempting("direct", slopes_case<false>);

  Shape stars(cases, kTool, "stars_f32", "f32", 5 * picture, 8 * picture, {"dram"});
  stars.clean("depth8", stars_case<8>);
  stars.tempting("depth1", stars_case<1>);

  const double matrix = 1.0 * kMatrixRows * kMatrixColumns;
  Shape product(cases, kTool, "matrix_vector_f32", "f32", 2 * matrix, 4 * matrix, {"dram"});
  product.clean("shared", matrix_vector_case<true>);
  product.tempting("direct", matrix_vector_case<false>);

  Shape busy(cases, kTool, "busy_f32", "f32", 4096.0 * kBusy, 8.0 * kBusy, {"alu"});
  busy.clean("shared", busy_case<true>);
  busy.tempting("direct", busy_case<false>);

  Shape walks(cases, kTool, "walks_u32", "u32", 256.0 * kWalkers, 8.0 * kWalkers,
              {"latency", "l1"});
  walks.tempting("steps256", walks_case<256>).with({"uncoalesced_access"});
}

}  // namespace defects
