// Divergent warps: threads of a warp that do different things, or nothing, while others work.
#include "defects.cuh"

namespace defects {
namespace {

constexpr char kTool[] = "divergent_warps";

// Tiles of 256 elements have eight kinds, 32 elements of a kind side by side. GROUP neighbors in a
// warp take elements of one kind; 32: the whole warp does.
template <int GROUP>
__device__ __forceinline__ std::uint32_t element() {
  const std::uint32_t lane = threadIdx.x % 32;
  const std::uint32_t kind = (threadIdx.x / 32 + lane / GROUP) % 8;
  return blockIdx.x * 256 + kind * 32 + lane;
}

__device__ __forceinline__ int kind_of(std::uint32_t element) {
  return element / 32 % 8;
}

// ---- each kind has a function of its own ----

constexpr int kKindSteps = 256;
constexpr std::uint32_t kKinds = kMultiprocessors * 2048 * 24;

__device__ __forceinline__ float function_of(int kind, float x, int steps) {
  float y = x;
  switch (kind) {
    case 0:
#pragma unroll 8
      for (int i = 0; i < steps; ++i) y = fmaf(y, 0.4999f, x * 0.5f);
      break;
    case 1:
#pragma unroll 8
      for (int i = 0; i < steps; ++i) y = fminf(fmaf(y, y, -0.5f), 1.0f);
      break;
    case 2:
#pragma unroll 8
      for (int i = 0; i < steps; ++i) y = fabsf(fmaf(y, -0.75f, x));
      break;
    case 3:
#pragma unroll 8
      for (int i = 0; i < steps; ++i) y = fmaxf(fmaf(y, 0.5f, 0.25f), x);
      break;
    case 4:
#pragma unroll 8
      for (int i = 0; i < steps; ++i) y = fmaf(x * y, 0.25f, 0.5f * y);
      break;
    case 5:
#pragma unroll 8
      for (int i = 0; i < steps; ++i) y = fmaf(fmaf(y, 0.25f, x), 0.5f, -0.125f);
      break;
    case 6:
#pragma unroll 8
      for (int i = 0; i < steps; ++i) y = fmaf(y, x * 0.5f, 0.125f);
      break;
    default:
#pragma unroll 8
      for (int i = 0; i < steps; ++i) y = fmaf(fminf(y, x), 0.5f, 0.375f);
  }
  return y;
}

template <int GROUP>
__global__ void __launch_bounds__(256) kinds(float* y, const float* x) {
  const std::uint32_t i = element<GROUP>();
  y[i] = function_of(kind_of(i), x[i], kKindSteps);
}

template <int GROUP>
Work kinds_case(Pool& pool) {
  auto* x = pool.random<float>(kKinds);
  auto* y = pool.take<float>(kKinds);
  return {[=] { kinds<GROUP><<<kKinds / 256, 256>>>(y, x); }, output(y, kKinds)};
}

// ---- loops of many lengths ----

__constant__ int kLengths[8] = {16, 32, 64, 96, 160, 256, 384, 512};

template <int GROUP>
__global__ void __launch_bounds__(256) walks(float* y, const float* x) {
  const std::uint32_t i = element<GROUP>();
  const int length = kLengths[kind_of(i)];
  const float start = x[i];
  float value = start;
#pragma unroll 1
  for (int step = 0; step < length; ++step) {
#pragma unroll
    for (int k = 0; k < 4; ++k) value = fmaf(value, 0.4999f, start * 0.5f);
  }
  y[i] = value;
}

template <int GROUP>
Work walks_case(Pool& pool) {
  auto* x = pool.random<float>(kKinds);
  auto* y = pool.take<float>(kKinds);
  return {[=] { walks<GROUP><<<kKinds / 256, 256>>>(y, x); }, output(y, kKinds)};
}

// ---- powers modulo 2^32: exponents have 4 to 32 bits ----

constexpr int kPowerRounds = 16;

template <int GROUP>
__global__ void __launch_bounds__(256) powers(std::uint32_t* y, const std::uint32_t* x) {
  const std::uint32_t i = element<GROUP>();
  std::uint32_t value = x[i];
  const std::uint32_t exponents = ~0u >> (28 - 4 * kind_of(i));
#pragma unroll 1
  for (int round = 0; round < kPowerRounds; ++round) {
    std::uint32_t base = value | 1;
    std::uint32_t power = 1;
#pragma unroll 1
    for (std::uint32_t left = exponents; left != 0; left >>= 1) {
      power = (left & 1) != 0 ? power * base : power;
      base *= base + 2 * round;
      base ^= base >> 7;
    }
    value = power ^ (value >> 3);
  }
  y[i] = value;
}

template <int GROUP>
Work powers_case(Pool& pool) {
  auto* x = pool.random<std::uint32_t>(kKinds);
  auto* y = pool.take<std::uint32_t>(kKinds);
  return {[=] { powers<GROUP><<<kKinds / 256, 256>>>(y, x); }, output(y, kKinds, 0)};
}

// ---- one element in eight has work ----

constexpr int kSparseSteps = 1024;

template <int GROUP>
__global__ void __launch_bounds__(256) sparse(double* y, const double* x) {
  const std::uint32_t i = element<GROUP>();
  double value = x[i];
  if (kind_of(i) == 0) {
#pragma unroll 16
    for (int step = 0; step < kSparseSteps; ++step) value = fma(value, 0.4999, x[i] * 0.5);
  }
  y[i] = value;
}

template <int GROUP>
Work sparse_case(Pool& pool) {
  auto* x = pool.random<double>(kKinds);
  auto* y = pool.take<double>(kKinds);
  return {[=] { sparse<GROUP><<<kKinds / 256, 256>>>(y, x); }, output(y, kKinds, 1e-9)};
}

// ---- sums of a warp: by some of its lanes, or by shuffles ----

constexpr int kSumRounds = 64;
constexpr std::uint32_t kSummed = kMultiprocessors * 2048 * 8;

// ADDERS lanes add up 32 / ADDERS values each, which all have put into shared memory.
template <int ADDERS>
__device__ __forceinline__ float sum_by(float value, float* slot) {
  if (ADDERS == 32) return warp_sum(value);
  const int lane = threadIdx.x % 32;
  slot[lane] = value;
  __syncwarp();
  if (lane < ADDERS) {
    float sum = 0;
#pragma unroll
    for (int k = 0; k < 32 / ADDERS; ++k) sum += slot[k * ADDERS + lane];
    slot[lane] = sum;
  }
  __syncwarp();
  float all = 0;
#pragma unroll
  for (int k = 0; k < ADDERS; ++k) all += slot[k];
  __syncwarp();
  return all;
}

template <int ADDERS>
__global__ void __launch_bounds__(256) warp_sums(float* y, const float* x) {
  __shared__ float slots[256];
  const std::uint32_t i = blockIdx.x * 256 + threadIdx.x;
  float* slot = slots + threadIdx.x / 32 * 32;
  float value = x[i];
#pragma unroll 1
  for (int round = 0; round < kSumRounds; ++round) {
    value = fmaf(value, 0.75f, 0.001f * sum_by<ADDERS>(value, slot));
  }
  y[i] = value;
}

template <int ADDERS>
Work sums_case(Pool& pool) {
  auto* x = pool.random<float>(kSummed);
  auto* y = pool.take<float>(kSummed);
  return {[=] { warp_sums<ADDERS><<<kSummed / 256, 256>>>(y, x); }, output(y, kSummed, 1e-3)};
}

// ---- rows of eight elements, one or several a warp ----

constexpr std::uint32_t kShortRows = kMultiprocessors * 2048 * 3;

template <int ROWS>
__global__ void __launch_bounds__(256) short_rows(__half* y, const __half* x) {
  const std::uint32_t lane = threadIdx.x % 32;
  const std::uint32_t row = (blockIdx.x * 8 + threadIdx.x / 32) * ROWS + lane / 8;
  if (lane >= ROWS * 8) return;
  const unsigned mask = ROWS == 4 ? ~0u : (1u << (ROWS * 8)) - 1;
  const float value = fma_chain(__half2float(x[row * 8 + lane % 8]), 512);
  float most = value;
#pragma unroll
  for (int step = 4; step > 0; step /= 2) {
    most = fmaxf(most, __shfl_xor_sync(mask, most, step));
  }
  y[row * 8 + lane % 8] = __float2half_rn(value - most);
}

template <int ROWS>
Work short_rows_case(Pool& pool) {
  auto* x = pool.random<__half>(kShortRows * 8);
  auto* y = pool.take<__half>(kShortRows * 8);
  return {[=] { short_rows<ROWS><<<kShortRows / (8 * ROWS), 256>>>(y, x); },
          output(y, kShortRows * 8, 1e-3)};
}

// ---- tempting: kinds by lane where memory bounds ----

constexpr std::uint32_t kCheap = 1u << 24;  // of four values

template <int GROUP>
__global__ void __launch_bounds__(256) cheap_kinds(float4* y, const float4* x) {
  const std::uint32_t i = element<GROUP>();
  float4 word = x[i];
  switch (kind_of(i) % 4) {
    case 0:
      word.x = sqrtf(fabsf(word.x));
      break;
    case 1:
      word.y = fmaxf(word.x, word.z) * 0.5f;
      break;
    case 2:
      word.z = word.x * word.y - word.w;
      break;
    default:
      word.w = rsqrtf(fabsf(word.w) + 1.0f);
  }
  y[i] = word;
}

template <int GROUP>
Work cheap_case(Pool& pool) {
  auto* x = pool.random<float>(std::size_t{kCheap} * 4);
  auto* y = pool.take<float>(std::size_t{kCheap} * 4);
  return {[=] {
            cheap_kinds<GROUP><<<kCheap / 256, 256>>>(reinterpret_cast<float4*>(y),
                                                      reinterpret_cast<const float4*>(x));
          },
          output(y, std::size_t{kCheap} * 4)};
}

// ---- tempting: a short divergent part before much that all do ----

enum class Before { nothing, lane_zero, two_paths, ragged };

template <Before BEFORE>
__global__ void __launch_bounds__(256) mostly_alike(float* y, const float* x, std::uint32_t used) {
  const std::uint32_t i = blockIdx.x * used + threadIdx.x;
  if (BEFORE == Before::ragged && threadIdx.x >= used) return;
  float value = x[i];
  // Never as large as that, which the compiler does not know.
  if (BEFORE == Before::lane_zero && threadIdx.x % 32 == 0) {
    if (function_of(1, value, 32) > 4.0f) value = 0;
  }
  if (BEFORE == Before::two_paths) {
    if (function_of(threadIdx.x % 2 == 0 ? 1 : 2, value, 32) > 4.0f) value = 0;
  }
  y[i] = fma_chain(value, 2560);
}

template <Before BEFORE>
Work alike_case(Pool& pool) {
  constexpr std::uint32_t blocks = kMultiprocessors * 96;
  constexpr std::uint32_t used = BEFORE == Before::ragged ? 250 : 256;
  constexpr std::uint32_t count = blocks * 250;
  auto* x = pool.random<float>(blocks * 256);
  auto* y = pool.take<float>(blocks * 256);
  return {[=] { mostly_alike<BEFORE><<<(count + used - 1) / used, 256>>>(y, x, used); },
          output(y, count)};
}

// ---- tempting: conditions of one instruction, which all threads pass ----

constexpr std::uint32_t kFolded = kMultiprocessors * 2048 * 8;

template <bool CONDITIONS>
__global__ void __launch_bounds__(256) folded(float* y, const float* x) {
  const std::uint32_t i = blockIdx.x * 256 + threadIdx.x;
  float value = x[i];
#pragma unroll 16
  for (int step = 0; step < 512; ++step) {
    value = fmaf(value, 0.75f, 0.25f);
    if (CONDITIONS) {
      if (value > 0.5f) value -= 0.75f;
    } else {
      value -= value > 0.5f ? 0.75f : 0.0f;
    }
  }
  y[i] = value;
}

template <bool CONDITIONS>
Work folded_case(Pool& pool) {
  auto* x = pool.random<float>(kFolded);
  auto* y = pool.take<float>(kFolded);
  return {[=] { folded<CONDITIONS><<<kFolded / 256, 256>>>(y, x); }, output(y, kFolded, 1e-3)};
}

// ---- tempting: fewer and fewer lanes add up, after a long read ----

constexpr std::uint32_t kTreeRows = 16384;

template <bool TREE>
__global__ void __launch_bounds__(256) tree_sums(float* y, const float4* x) {
  const int lane = threadIdx.x % 32;
  const std::uint32_t row = blockIdx.x * 8 + threadIdx.x / 32;
  float sum = 0;
#pragma unroll 8
  for (int k = 0; k < 32; ++k) {
    const float4 word = x[row * 1024 + k * 32 + lane];
    sum += (word.x + word.y) + (word.z + word.w);
  }
  if (TREE) {
    __shared__ float part[256];
    float* own = part + threadIdx.x / 32 * 32;
    own[lane] = sum;
    __syncwarp();
    for (int step = 16; step > 0; step /= 2) {
      if (lane < step) own[lane] += own[lane + step];
      __syncwarp();
    }
    sum = own[0];
  } else {
    sum = warp_sum(sum);
  }
  if (lane == 0) y[row] = sum;
}

template <bool TREE>
Work tree_case(Pool& pool) {
  auto* x = pool.random<float>(std::size_t{kTreeRows} * 4096);
  auto* y = pool.take<float>(kTreeRows);
  return {[=] { tree_sums<TREE><<<kTreeRows / 8, 256>>>(y, reinterpret_cast<const float4*>(x)); },
          output(y, kTreeRows, 1e-4)};
}

}  // namespace

void add_divergent_warps(Cases& cases) {
  const std::vector<std::string> busy = {"alu", "latency"};
  Shape kinds(cases, kTool, "kinds_f32", "f32", 2.0 * kKinds * kKindSteps, 8.0 * kKinds, busy);
  kinds.clean("kinds1", kinds_case<32>);
  kinds.defect("kinds2", 0.4, kinds_case<16>);
  kinds.defect("kinds4", 0.7, kinds_case<8>);
  kinds.defect("kinds8", 1, kinds_case<4>);

  Shape walks(cases, kTool, "walks_f32", "f32", 1520.0 * kKinds, 8.0 * kKinds, busy);
  walks.clean("lengths1", walks_case<32>);
  walks.defect("lengths2", 0.3, walks_case<16>);
  walks.defect("lengths4", 0.6, walks_case<8>);
  walks.defect("lengths8", 1, walks_case<1>);

  Shape powers(cases, kTool, "powers_u32", "u32", 72.0 * kPowerRounds * kKinds, 8.0 * kKinds, busy);
  powers.clean("bits1", powers_case<32>);
  powers.defect("bits2", 0.3, powers_case<16>);
  powers.defect("bits4", 0.6, powers_case<8>);
  powers.defect("bits8", 1, powers_case<1>);

  Shape sparse(cases, kTool, "sparse_f64", "f64", kSparseSteps / 4.0 * kKinds, 16.0 * kKinds, busy);
  sparse.clean("warps", sparse_case<32>);
  sparse.defect("half", 0.4, sparse_case<16>);
  sparse.defect("quarter", 0.7, sparse_case<8>);
  sparse.defect("eighth", 1, sparse_case<4>);

  Shape sums(cases, kTool, "warp_sums_f32", "f32", 33.0 * kSumRounds * kSummed, 8.0 * kSummed,
             {"alu", "latency", "l1"});
  sums.clean("shuffles", sums_case<32>);
  sums.defect("adders4", 0.6, sums_case<4>);
  sums.defect("adders1", 1, sums_case<1>);

  Shape rows(cases, kTool, "short_rows_f16", "f16", 8192.0 * kShortRows, 32.0 * kShortRows, busy);
  rows.clean("rows4", short_rows_case<4>);
  rows.defect("rows2", 0.5, short_rows_case<2>);
  rows.defect("rows1", 1, short_rows_case<1>);

  Shape cheap(cases, kTool, "cheap_kinds_f32", "f32", 4.0 * kCheap, 32.0 * kCheap, {"dram"});
  cheap.clean("kinds1", cheap_case<32>);
  cheap.tempting("kinds4", cheap_case<8>);

  Shape alike(cases, kTool, "mostly_alike_f32", "f32", 5000.0 * kMultiprocessors * 96 * 250,
              8.0 * kMultiprocessors * 96 * 250, busy);
  alike.clean("all", alike_case<Before::nothing>);
  alike.tempting("lane_zero", alike_case<Before::lane_zero>);
  alike.tempting("two_paths", alike_case<Before::two_paths>);
  alike.tempting("ragged", alike_case<Before::ragged>);

  Shape folded(cases, kTool, "folded_f32", "f32", 1536.0 * kFolded, 8.0 * kFolded, busy);
  folded.clean("selects", folded_case<false>);
  folded.tempting("conditions", folded_case<true>);

  Shape tree(cases, kTool, "tree_sums_f32", "f32", 4096.0 * kTreeRows, 16384.0 * kTreeRows,
             {"dram"});
  tree.clean("shuffles", tree_case<false>);
  tree.tempting("tree", tree_case<true>);
}

}  // namespace defects
