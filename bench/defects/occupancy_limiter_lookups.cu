// Occupancy limiter, kernels that do nothing but wait for the load before the next one: searches in
// a sorted table and walks through a graph. They gain by every further warp, also from half of them
// on.
#include "defects.cuh"

namespace defects {
namespace {

constexpr char kTool[] = "occupancy_limiter";

constexpr std::uint32_t kTable = 1u << 24;
constexpr std::uint32_t kQueries = 1u << 22;
constexpr int kLevels = 24;
constexpr int kNeeded = 96;

__global__ void lay_out_table(std::uint32_t* table) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  table[i] = i * 256u + 17u;
}

// How many entries are below the query.
__device__ std::uint32_t search(const std::uint32_t* table, std::uint32_t query) {
  std::uint32_t first = 0;
#pragma unroll 1
  for (std::uint32_t step = kTable / 2; step > 0; step /= 2) {
    if (table[first + step - 1] < query) first += step;
  }
  return first;
}

__global__ void searches(std::uint32_t* y, const std::uint32_t* table,
                         const std::uint32_t* queries) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = search(table, queries[i]);
}

Prepare searches_case(int threads, int shared_bytes) {
  return [threads, shared_bytes](Pool& pool) -> Work {
    auto* queries = pool.random<std::uint32_t>(kQueries);
    auto* table = pool.take<std::uint32_t>(kTable);
    auto* y = pool.take<std::uint32_t>(kQueries);
    lay_out_table<<<kTable / 256, 256>>>(table);
    allow_shared(searches, shared_bytes);
    return {[=] { searches<<<kQueries / threads, threads, shared_bytes>>>(y, table, queries); },
            output(y, kQueries)};
  };
}

// Eight searches side by side in a thread: their loads overlap, and warps are not what is missing.
__global__ void searches_together(std::uint32_t* y, const std::uint32_t* table,
                                  const std::uint32_t* queries) {
  constexpr int together = 8;
  const std::uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
  std::uint32_t query[together];
  std::uint32_t first[together] = {};
#pragma unroll
  for (int k = 0; k < together; ++k) query[k] = queries[k * (kQueries / together) + thread];
#pragma unroll 1
  for (std::uint32_t step = kTable / 2; step > 0; step /= 2) {
#pragma unroll
    for (int k = 0; k < together; ++k) {
      if (table[first[k] + step - 1] < query[k]) first[k] += step;
    }
  }
#pragma unroll
  for (int k = 0; k < together; ++k) y[k * (kQueries / together) + thread] = first[k];
}

Prepare together_case(int threads) {
  return [threads](Pool& pool) -> Work {
    auto* queries = pool.random<std::uint32_t>(kQueries);
    auto* table = pool.take<std::uint32_t>(kTable);
    auto* y = pool.take<std::uint32_t>(kQueries);
    lay_out_table<<<kTable / 256, 256>>>(table);
    return {[=] { searches_together<<<kQueries / 8 / threads, threads>>>(y, table, queries); },
            output(y, kQueries)};
  };
}

// The polynomial of a query's place. The first EARLY of its factors are read before the search and
// wait in registers.
template <int EARLY>
__global__ void __launch_bounds__(256) polynomials(float* y, const std::uint32_t* table,
                                                   const std::uint32_t* queries,
                                                   const float* factors) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  const int lane = threadIdx.x % 32;
  float kept[EARLY == 0 ? 1 : EARLY];
#pragma unroll
  for (int h = 0; h < EARLY; ++h) {
    kept[h] = factors[h * 32 + lane];
    asm volatile("" : "+f"(kept[h]));
  }
  const float x = static_cast<float>(search(table, queries[i])) / kTable;
  float sum = 0;
#pragma unroll
  for (int h = 0; h < kNeeded; ++h) {
    sum = fmaf(sum, 0.5f * x, h < EARLY ? kept[h] : factors[h * 32 + lane]);
  }
  y[i] = sum;
}

template <int EARLY>
Prepare polynomials_case() {
  return [](Pool& pool) -> Work {
    auto* queries = pool.random<std::uint32_t>(kQueries);
    auto* factors = pool.random<float>(kNeeded * 32);
    auto* table = pool.take<std::uint32_t>(kTable);
    auto* y = pool.take<float>(kQueries);
    lay_out_table<<<kTable / 256, 256>>>(table);
    return {[=] { polynomials<EARLY><<<kQueries / 256, 256>>>(y, table, queries, factors); },
            output(y, kQueries, 1e-4)};
  };
}

// ---- a walk a thread through a graph; what it has seen is noted in shared memory ----

constexpr std::uint32_t kVertices = 1u << 24;
constexpr std::uint32_t kWalks = 1u << 20;
constexpr int kSteps = 32;

__global__ void walks(std::uint32_t* y, const std::uint32_t* next, int noted) {
  extern __shared__ std::uint32_t notes[];
  const std::uint32_t walk = blockIdx.x * blockDim.x + threadIdx.x;
  std::uint32_t at = walk * (kVertices / kWalks);
  std::uint32_t sum = 0;
#pragma unroll 1
  for (int step = 0; step < kSteps; ++step) {
    at = next[at] % kVertices;
    notes[(step % noted) * blockDim.x + threadIdx.x] = at;
    sum += at;
  }
  y[walk] = sum + notes[threadIdx.x] % 2;
}

// `places` are set aside for each thread's notes; the last eight are enough.
Prepare walks_case(int threads, int places) {
  return [threads, places](Pool& pool) -> Work {
    auto* next = pool.random<std::uint32_t>(kVertices);
    auto* y = pool.take<std::uint32_t>(kWalks);
    const int shared_bytes = threads * places * 4;
    allow_shared(walks, shared_bytes);
    return {[=] { walks<<<kWalks / threads, threads, shared_bytes>>>(y, next, 8); },
            output(y, kWalks)};
  };
}

}  // namespace

void add_occupancy_limiter_lookups(Cases& cases) {
  const std::vector<std::string> also = {"long_scoreboard", "uncoalesced_access"};
  const std::vector<std::string> classes = {"latency", "l2", "l1", "dram"};
  Shape blocks(cases, kTool, "searches_u32", "u32", 2.0 * kQueries * kLevels, 8.0 * kQueries,
               classes);
  blocks.clean("threads256", searches_case(256, 0)).with(also);
  blocks.clean("threads512", searches_case(512, 0)).with(also);
  blocks.defect("threads32", 0.4, searches_case(32, 0)).with(also);
  blocks.defect("threads256_shared56k", 0.4, searches_case(256, 56 << 10)).with(also);
  blocks.defect("threads256_shared72k", 0.6, searches_case(256, 72 << 10)).with(also);
  blocks.defect("threads64_shared28k", 1, searches_case(64, 28 << 10)).with(also);

  Shape together(cases, kTool, "searches_together_u32", "u32", 2.0 * kQueries * kLevels,
                 8.0 * kQueries, classes);
  together.clean("threads256", together_case(256)).with({"uncoalesced_access"});
  together.tempting("threads32", together_case(32)).with({"uncoalesced_access"});

  Shape registers(cases, kTool, "polynomials_f32", "f32", 2.0 * kQueries * (kLevels + kNeeded),
                  8.0 * kQueries, classes);
  registers.clean("late", polynomials_case<0>()).with(also);
  registers.defect("early32", 0.3, polynomials_case<32>()).with(also);
  registers.defect("early64", 0.6, polynomials_case<64>()).with(also);
  registers.defect("early96", 1, polynomials_case<96>()).with(also);

  Shape walk(cases, kTool, "walks_u32", "u32", 1.0 * kWalks * kSteps, 36.0 * kWalks * kSteps,
             classes);
  walk.clean("places8", walks_case(256, 8)).with(also);
  walk.clean("places24", walks_case(256, 24)).with(also);
  walk.defect("places64", 0.5, walks_case(256, 64)).with(also);
  walk.defect("places200", 1, walks_case(256, 200)).with(also);
}

}  // namespace defects
