// Divergent warps in more shapes: rows of a sparse matrix, walks that end early, and searches whose
// conditions are no branches.
#include "defects.cuh"

namespace defects {
namespace {

constexpr char kTool[] = "divergent_warps";

// ---- a sparse matrix whose rows have 1 to 32 groups of eight entries ----

constexpr std::uint32_t kRows = 1u << 18;
constexpr std::uint32_t kColumns = 1u << 12;
constexpr int kPlaces = 256;  // of a row; those beyond its length are not used

__device__ __forceinline__ int entries_of(std::uint32_t row) {
  return 8 + static_cast<int>((row * 2654435761u) >> 27) * 8;
}

// LANES lanes a row. One: a thread has a row of its own, and waits for the longest of 32.
template <int LANES>
__global__ void __launch_bounds__(256)
    sparse_rows(float* y, const float* values, const std::uint32_t* columns, const float* x) {
  const std::uint32_t thread = blockIdx.x * 256 + threadIdx.x;
  const std::uint32_t row = thread / LANES;
  const int lane = static_cast<int>(thread % LANES);
  const int entries = entries_of(row);
  float sum = 0;
#pragma unroll 1
  for (int k = lane; k < entries; k += LANES) {
    // A thread that has a row of its own finds its entries beside those of its neighbors.
    const std::size_t at = LANES == 1 ? std::size_t(k) * kRows + row
                                      : std::size_t(row) * kPlaces + static_cast<std::size_t>(k);
    sum = fmaf(values[at], fma_chain(x[columns[at]], 16), sum);
  }
#pragma unroll
  for (int step = LANES / 2; step > 0; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
  if (lane == 0) y[row] = sum;
}

// The same entries in the order that LANES reads best.
template <int LANES>
__global__ void lay_out(float* to, std::uint32_t* columns_to, const float* from,
                        const std::uint32_t* columns_from) {
  const std::size_t i = std::size_t{blockIdx.x} * 256 + threadIdx.x;
  const std::size_t row = i / kPlaces;
  const std::size_t place = i % kPlaces;
  const std::size_t at = LANES == 1 ? place * kRows + row : i;
  to[at] = from[i];
  columns_to[at] = columns_from[i];
}

template <int LANES>
Work sparse_case(Pool& pool) {
  constexpr std::size_t count = std::size_t{kRows} * kPlaces;
  auto* from = pool.random<float>(count);
  auto* columns_from = pool.random_below(count, kColumns);
  auto* x = pool.random<float>(kColumns);
  auto* values = pool.take<float>(count);
  auto* columns = pool.take<std::uint32_t>(count);
  auto* y = pool.take<float>(kRows);
  lay_out<LANES><<<count / 256, 256>>>(values, columns, from, columns_from);
  return {[=] { sparse_rows<LANES><<<kRows / 256 * LANES, 256>>>(y, values, columns, x); },
          output(y, kRows, 1e-3)};
}

// ---- points that leave a walk at once or stay to its end ----

constexpr std::uint32_t kPoints = kMultiprocessors * 2048 * 8;

// Of eight neighbors one stays. SORTED: those that stay are whole warps.
template <bool SORTED>
__global__ void __launch_bounds__(256) escapes(float* y, const float* x) {
  const std::uint32_t own = blockIdx.x * 256 + threadIdx.x;
  const std::uint32_t block = own / 256 * 256;
  const std::uint32_t i = SORTED ? block + threadIdx.x % 32 * 8 + threadIdx.x / 32 : own;
  const float step = i % 8 == 0 ? 0.001f : 0.75f;
  float value = fabsf(x[i]);
#pragma unroll 1
  for (int turn = 0; turn < 512 && value < 2.0f; ++turn) value = fmaf(value, 0.999f, step);
  y[i] = value;
}

template <bool SORTED>
Work escapes_case(Pool& pool) {
  auto* x = pool.random<float>(kPoints);
  auto* y = pool.take<float>(kPoints);
  return {[=] { escapes<SORTED><<<kPoints / 256, 256>>>(y, x); }, output(y, kPoints)};
}

// ---- tempting: searches by halves in shared memory, as many steps for each thread ----

constexpr int kSorted = 4096;
constexpr std::uint32_t kSearched = kMultiprocessors * 2048 * 4;

// BRANCHES: halves by conditions, which become selects; else by arithmetic.
template <bool BRANCHES>
__global__ void __launch_bounds__(256) searches(std::uint32_t* y, const float* x) {
  __shared__ float sorted[kSorted];
  for (int k = threadIdx.x; k < kSorted; k += 256) sorted[k] = k * (2.0f / kSorted) - 1.0f;
  __syncthreads();
  const std::uint32_t i = blockIdx.x * 256 + threadIdx.x;
  float wanted = x[i];
  std::uint32_t sum = 0;
#pragma unroll 1
  for (int round = 0; round < 8; ++round) {
    int low = 0;
#pragma unroll
    for (int step = kSorted / 2; step > 0; step /= 2) {
      if (BRANCHES) {
        if (sorted[low + step] <= wanted) low += step;
      } else {
        low += step * static_cast<int>(sorted[low + step] <= wanted);
      }
    }
    sum = sum * 31 + low;
    wanted = wanted > 0 ? wanted * 0.75f - 0.5f : wanted * 0.75f + 0.5f;
  }
  y[i] = sum;
}

template <bool BRANCHES>
Work searches_case(Pool& pool) {
  auto* x = pool.random<float>(kSearched);
  auto* y = pool.take<std::uint32_t>(kSearched);
  return {[=] { searches<BRANCHES><<<kSearched / 256, 256>>>(y, x); }, output(y, kSearched, 0)};
}

}  // namespace

void add_divergent_warps_rows(Cases& cases) {
  const double entries = kRows * 132.0;
  Shape rows(cases, kTool, "sparse_rows_f32", "f32", 34 * entries, 8 * entries,
             {"alu", "latency", "l1", "l2", "dram"});
  rows.clean("lanes32", sparse_case<32>).with({"uncoalesced_access", "narrow_loads"});
  rows.defect("lanes8", 0.5, sparse_case<8>).with({"uncoalesced_access", "narrow_loads"});
  rows.defect("lanes1", 1, sparse_case<1>).with({"uncoalesced_access", "narrow_loads"});

  Shape escaped(cases, kTool, "escapes_f32", "f32", 130.0 * kPoints, 8.0 * kPoints,
                {"alu", "latency"});
  escaped.clean("sorted", escapes_case<true>);
  escaped.defect("in_order", 1, escapes_case<false>);

  Shape searched(cases, kTool, "searches_f32", "f32", 8.0 * 36 * kSearched, 8.0 * kSearched,
                 {"alu", "latency", "l1"});
  searched.clean("arithmetic", searches_case<false>).with({"bank_conflicts"});
  searched.tempting("conditions", searches_case<true>).with({"bank_conflicts"});
}

}  // namespace defects
