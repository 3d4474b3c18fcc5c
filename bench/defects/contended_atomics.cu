// Atomics under contention: many threads add to few places at once.
#include <cooperative_groups.h>

#include "defects.cuh"

namespace defects {
namespace {

constexpr char kTool[] = "contended_atomics";

// ---- a histogram in global memory ----

constexpr std::uint32_t kKeys = 1u << 25;
constexpr int kBins = 256;

// The keys of a block into its counters.
__device__ __forceinline__ void count_keys(std::uint32_t* count, const uint4* x,
                                           int words_of_block) {
  count[threadIdx.x] = 0;
  __syncthreads();
  const std::uint32_t base = blockIdx.x * words_of_block;
#pragma unroll 4
  for (int i = threadIdx.x; i < words_of_block; i += 256) {
    const uint4 word = x[base + i];
    atomicAdd(&count[word.x % kBins], 1u);
    atomicAdd(&count[word.y % kBins], 1u);
    atomicAdd(&count[word.z % kBins], 1u);
    atomicAdd(&count[word.w % kBins], 1u);
  }
}

// Counters of the block in shared memory, handed over after `words_of_block` words of four keys.
__global__ void __launch_bounds__(256)
    histogram_shared(std::uint32_t* y, const uint4* x, int words_of_block) {
  __shared__ std::uint32_t count[kBins];
  count_keys(count, x, words_of_block);
  __syncthreads();
  atomicAdd(&y[threadIdx.x], count[threadIdx.x]);
}

// The same, but a cluster adds up its blocks' counters before it hands them over.
constexpr int kCluster = 8;

__global__ void __cluster_dims__(kCluster, 1, 1) __launch_bounds__(256)
    histogram_cluster(std::uint32_t* y, const uint4* x, int words_of_block) {
  __shared__ std::uint32_t count[kBins];
  count_keys(count, x, words_of_block);
  const auto cluster = cooperative_groups::this_cluster();
  cluster.sync();
  constexpr int bins = kBins / kCluster;
  if (threadIdx.x < bins) {
    const int bin = cluster.block_rank() * bins + threadIdx.x;
    std::uint32_t sum = 0;
#pragma unroll
    for (int rank = 0; rank < kCluster; ++rank) sum += cluster.map_shared_rank(count, rank)[bin];
    atomicAdd(&y[bin], sum);
  }
  cluster.sync();  // nobody ends while others read its counters
}

__global__ void __launch_bounds__(256) histogram_global(std::uint32_t* y, const uint4* x) {
  const uint4 word = x[blockIdx.x * 256 + threadIdx.x];
  atomicAdd(&y[word.x % kBins], 1u);
  atomicAdd(&y[word.y % kBins], 1u);
  atomicAdd(&y[word.z % kBins], 1u);
  atomicAdd(&y[word.w % kBins], 1u);
}

Prepare histogram_case(int words_of_block) {
  return [=](Pool& pool) -> Work {
    auto* x = pool.random<std::uint32_t>(kKeys);
    auto* y = pool.take<std::uint32_t>(kBins);
    return {[=] {
              histogram_shared<<<kKeys / 4 / words_of_block, 256>>>(
                  y, reinterpret_cast<const uint4*>(x), words_of_block);
            },
            output(y, kBins, 0)};
  };
}

Prepare histogram_cluster_case(int words_of_block) {
  return [=](Pool& pool) -> Work {
    auto* x = pool.random<std::uint32_t>(kKeys);
    auto* y = pool.take<std::uint32_t>(kBins);
    return {[=] {
              histogram_cluster<<<kKeys / 4 / words_of_block, 256>>>(
                  y, reinterpret_cast<const uint4*>(x), words_of_block);
            },
            output(y, kBins, 0)};
  };
}

Work histogram_global_case(Pool& pool) {
  auto* x = pool.random<std::uint32_t>(kKeys);
  auto* y = pool.take<std::uint32_t>(kBins);
  return {[=] { histogram_global<<<kKeys / 1024, 256>>>(y, reinterpret_cast<const uint4*>(x)); },
          output(y, kBins, 0)};
}

// ---- one sum for all ----

constexpr std::uint32_t kSum = 1u << 25;

enum class Level { thread, warp, block };

template <Level LEVEL>
__global__ void __launch_bounds__(256) sum_all(double* y, const float4* x, int turns) {
  float sum = 0;
  const std::uint32_t base = blockIdx.x * (256 * turns) + threadIdx.x;
#pragma unroll 4
  for (int t = 0; t < turns; ++t) {
    const float4 word = x[base + t * 256];
    sum += (word.x * word.x + word.y * word.y) + (word.z * word.z + word.w * word.w);
  }
  if (LEVEL == Level::thread) {
    atomicAdd(y, static_cast<double>(sum));
  } else if (LEVEL == Level::warp) {
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0) atomicAdd(y, static_cast<double>(sum));
  } else {
    sum = block_sum(sum);
    if (threadIdx.x == 0) atomicAdd(y, static_cast<double>(sum));
  }
}

template <Level LEVEL>
Prepare sum_case(int turns) {
  return [=](Pool& pool) -> Work {
    auto* x = pool.random<float>(kSum);
    auto* y = pool.take<double>(1);
    return {[=] {
              sum_all<LEVEL>
                  <<<kSum / (1024 * turns), 256>>>(y, reinterpret_cast<const float4*>(x), turns);
            },
            output(y, 1)};
  };
}

// ---- weights added up by class in shared memory, most of them in one class ----

constexpr std::uint32_t kWeights = 1u << 26;
constexpr int kClasses = 64;
constexpr int kWeightBlocks = kMultiprocessors * 8;

// COPIES of the counters in a block; lanes use different ones.
template <int COPIES>
__global__ void __launch_bounds__(256) weigh(std::uint32_t* y, const uint4* x) {
  __shared__ std::uint32_t weight[kClasses * COPIES];
  for (int i = threadIdx.x; i < kClasses * COPIES; i += 256) weight[i] = 0;
  __syncthreads();
  const int copy = threadIdx.x % COPIES;
  const auto add = [&](std::uint32_t value) {
    const std::uint32_t kind = value % 256 < 200 ? 7 : value % kClasses;
    atomicAdd(&weight[kind * COPIES + copy], value >> 20);
  };
#pragma unroll 2
  for (std::uint32_t i = blockIdx.x * 256 + threadIdx.x; i < kWeights / 4; i += gridDim.x * 256) {
    const uint4 word = x[i];
    add(word.x);
    add(word.y);
    add(word.z);
    add(word.w);
  }
  __syncthreads();
  if (threadIdx.x < kClasses) {
    std::uint32_t sum = 0;
    for (int c = 0; c < COPIES; ++c)
      sum += weight[threadIdx.x * COPIES + (c + threadIdx.x) % COPIES];
    y[blockIdx.x * kClasses + threadIdx.x] = sum;
  }
}

template <int COPIES>
Work weigh_case(Pool& pool) {
  auto* x = pool.random<std::uint32_t>(kWeights);
  auto* y = pool.take<std::uint32_t>(kWeightBlocks * kClasses);
  return {[=] { weigh<COPIES><<<kWeightBlocks, 256>>>(y, reinterpret_cast<const uint4*>(x)); },
          output(y, kWeightBlocks * kClasses, 0)};
}

// ---- a counter from which warps draw their work ----

constexpr std::uint32_t kJobs = 1u << 19;  // of 512 bytes

// Each draw takes `jobs` of them.
__global__ void __launch_bounds__(256)
    draw_jobs(float* y, const Pack<__half, 8>* x, std::uint32_t* counter, int jobs) {
  const int lane = threadIdx.x % 32;
  while (true) {
    std::uint32_t job = 0;
    if (lane == 0) job = atomicAdd(&counter[0], static_cast<std::uint32_t>(jobs));
    job = __shfl_sync(~0u, job, 0);
    if (job >= kJobs) break;
#pragma unroll 4
    for (int j = 0; j < jobs; ++j) {
      const Pack<__half, 8> word = x[(job + j) * 32 + lane];
      float sum = 0;
#pragma unroll
      for (int k = 0; k < 8; ++k) sum += to_float(word.v[k]);
      y[(job + j) * 32 + lane] = sum;
    }
  }
  // The last block to leave puts the counters back for the next launch.
  __syncthreads();
  if (threadIdx.x == 0 && atomicAdd(&counter[32], 1u) == gridDim.x - 1) {
    counter[0] = 0;
    counter[32] = 0;
  }
}

Prepare jobs_case(int jobs) {
  return [=](Pool& pool) -> Work {
    auto* x = pool.random<__half>(std::size_t{kJobs} * 256);
    auto* y = pool.take<float>(std::size_t{kJobs} * 32);
    auto* counter = pool.take<std::uint32_t>(64);
    REQUIRE(cudaMemset(counter, 0, 256));
    return {[=] {
              draw_jobs<<<kMultiprocessors * 8, 256>>>(
                  y, reinterpret_cast<const Pack<__half, 8>*>(x), counter, jobs);
            },
            output(y, std::size_t{kJobs} * 32, 0)};
  };
}

// ---- a total of 64 bits ----

constexpr std::uint32_t kTotal = 1u << 25;

template <Level LEVEL>
__global__ void __launch_bounds__(256) total_all(unsigned long long* y, const uint4* x, int turns) {
  unsigned long long sum = 0;
  const std::uint32_t base = blockIdx.x * (256 * turns) + threadIdx.x;
#pragma unroll 4
  for (int t = 0; t < turns; ++t) {
    const uint4 word = x[base + t * 256];
    sum += (0ull + word.x + word.y) + (0ull + word.z + word.w);
  }
  if (LEVEL == Level::thread) {
    atomicAdd(y, sum);
    return;
  }
  sum = block_sum(sum);
  if (threadIdx.x == 0) atomicAdd(y, sum);
}

template <Level LEVEL>
Prepare total_case(int turns) {
  return [=](Pool& pool) -> Work {
    auto* x = pool.random<std::uint32_t>(kTotal);
    auto* y = pool.take<std::uint32_t>(2);  // the halves of the total
    return {[=] {
              total_all<LEVEL>
                  <<<kTotal / (1024 * turns), 256>>>(reinterpret_cast<unsigned long long*>(y),
                                                     reinterpret_cast<const uint4*>(x), turns);
            },
            output(y, 2, 0)};
  };
}

// ---- places in two queues, drawn by atomics whose results are used ----

constexpr std::uint32_t kTickets = 1u << 22;
constexpr int kApart = 32;  // words between the counters

__device__ std::uint32_t ticket_of(std::uint32_t* queues, int queue, std::uint32_t amount) {
  return atomicAdd(&queues[queue * kApart], amount);
}

__device__ void enqueue(std::uint32_t* list, int queue, std::uint32_t place, std::uint32_t what) {
  list[queue * kTickets + place % kTickets] = what;
}

// Of the warp's lanes with the same queue, the first draws for all.
__device__ std::uint32_t ticket_of_warp(std::uint32_t* queues, int queue) {
  const int lane = threadIdx.x % 32;
  const unsigned ones = __ballot_sync(~0u, queue == 1);
  const unsigned same = queue == 1 ? ones : ~ones;
  const int leader = __ffs(same) - 1;
  std::uint32_t first = 0;
  if (lane == leader) first = ticket_of(queues, queue, __popc(same));
  return __shfl_sync(~0u, first, leader) + __popc(same & ((1u << lane) - 1));
}

// Counts of both queues in the halves of a word, for all threads before this one in the block, and
// one draw of the block.
__device__ uint2 tickets_of_block(std::uint32_t* queues, std::uint32_t counts) {
  __shared__ std::uint32_t warps[8];
  __shared__ std::uint32_t first[2];
  const int lane = threadIdx.x % 32;
  std::uint32_t before = counts;
#pragma unroll
  for (int step = 1; step < 32; step *= 2) {
    const std::uint32_t other = __shfl_up_sync(~0u, before, step);
    if (lane >= step) before += other;
  }
  if (lane == 31) warps[threadIdx.x / 32] = before;
  before -= counts;
  __syncthreads();
  std::uint32_t all = 0;
#pragma unroll
  for (int w = 0; w < 8; ++w) {
    if (w == threadIdx.x / 32) before += all;
    all += warps[w];
  }
  if (threadIdx.x < 2) {
    first[threadIdx.x] =
        ticket_of(queues, threadIdx.x, threadIdx.x == 0 ? all & 0xffff : all >> 16);
  }
  __syncthreads();
  return {first[0] + (before & 0xffff), first[1] + (before >> 16)};
}

template <Level LEVEL>
__global__ void __launch_bounds__(256)
    sort_out(std::uint32_t* queues, std::uint32_t* list, const float* x) {
  const std::uint32_t base = blockIdx.x * 1024 + threadIdx.x;
  float value[4];
#pragma unroll
  for (int k = 0; k < 4; ++k) value[k] = x[base + k * 256];
  int queue[4];
  std::uint32_t counts = 0;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    queue[k] = fma_chain(value[k], 256) > 0 ? 1 : 0;
    counts += queue[k] == 1 ? 1u << 16 : 1u;
  }
  if constexpr (LEVEL == Level::block) {
    uint2 next = tickets_of_block(queues, counts);
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      enqueue(list, queue[k], queue[k] == 1 ? next.y++ : next.x++, base + k * 256);
    }
  } else {
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const std::uint32_t place =
          LEVEL == Level::warp ? ticket_of_warp(queues, queue[k]) : ticket_of(queues, queue[k], 1);
      enqueue(list, queue[k], place, base + k * 256);
    }
  }
}

template <Level LEVEL>
Work tickets_case(Pool& pool) {
  auto* x = pool.random<float>(kTickets);
  auto* list = pool.take<std::uint32_t>(2 * kTickets);
  auto* queues = pool.take<std::uint32_t>(2 * kApart);
  REQUIRE(cudaMemset(queues, 0, 2 * kApart * sizeof(*queues)));
  return {[=] { sort_out<LEVEL><<<kTickets / 1024, 256>>>(queues, list, x); },
          output(queues, 2 * kApart, 0)};
}

// ---- floats added up in shared memory, where each addition is a loop ----

constexpr int kGatherTurns = 48;
constexpr int kGatherBlocks = kMultiprocessors * 8;
constexpr std::size_t kGathered = std::size_t{kGatherBlocks} * 256 * 4 * kGatherTurns;

// PLACES of the block that threads add to; 0: each keeps its sum.
template <int PLACES>
__global__ void __launch_bounds__(256) gather_sum(float* y, const float4* x) {
  __shared__ float place[PLACES + 1];
  const int thread = threadIdx.x;
  if (thread < PLACES) place[thread] = 0;
  __syncthreads();
  const float4* in = x + std::size_t{blockIdx.x} * (256 * kGatherTurns) + thread;
  float sum = 0;
#pragma unroll 4
  for (int t = 0; t < kGatherTurns; ++t) {
    const float4 word = in[t * 256];
    const float value = (word.x * word.x + word.y * word.y) + (word.z * word.z + word.w * word.w);
    if constexpr (PLACES > 0) {
      atomicAdd(&place[thread / 32 % PLACES], value);
    } else {
      sum += value;
    }
  }
  __syncthreads();
  if (thread < PLACES) sum = place[thread];
  sum = block_sum(sum);
  if (thread == 0) y[blockIdx.x] = sum;
}

template <int PLACES>
Work gather_case(Pool& pool) {
  auto* x = pool.random<float>(kGathered);
  auto* y = pool.take<float>(kGatherBlocks);
  return {
      [=] { gather_sum<PLACES><<<kGatherBlocks, 256>>>(y, reinterpret_cast<const float4*>(x)); },
      output(y, kGatherBlocks, 1e-4)};
}

// ---- tempting: as many atomics as values, each at a place of its own ----

constexpr std::uint32_t kSpread = 1u << 25;

template <bool ATOMIC>
__global__ void __launch_bounds__(256) spread(float4* y, const float4* x) {
  const std::uint32_t base = blockIdx.x * 512 + threadIdx.x;
  float4 word[2] = {x[base], x[base + 256]};
#pragma unroll
  for (int k = 0; k < 2; ++k) {
    float4* place = &y[base + k * 256];
    if (ATOMIC) {
      atomicAdd(place, word[k]);
    } else {
      const float4 old = *place;
      *place = {old.x + word[k].x, old.y + word[k].y, old.z + word[k].z, old.w + word[k].w};
    }
  }
}

template <bool ATOMIC>
Work spread_case(Pool& pool) {
  auto* x = pool.random<float>(kSpread);
  auto* y = pool.take<float>(kSpread);
  return {[=] {
            spread<ATOMIC><<<kSpread / 2048, 256>>>(reinterpret_cast<float4*>(y),
                                                    reinterpret_cast<const float4*>(x));
          },
          output(y, kSpread, 0)};
}

// ---- tempting: one atomic a block on one place, after much arithmetic ----

constexpr std::uint32_t kLate = kMultiprocessors * 2048 * 4;

__global__ void __launch_bounds__(256) late(float* y, const float* x) {
  const float sum = block_sum(fma_chain(x[blockIdx.x * 256 + threadIdx.x], 4096));
  if (threadIdx.x == 0) atomicAdd(y, sum);
}

Work late_case(Pool& pool) {
  auto* x = pool.random<float>(kLate);
  auto* y = pool.take<float>(1);
  return {[=] { late<<<kLate / 256, 256>>>(y, x); }, output(y, 1)};
}

}  // namespace

void add_contended_atomics(Cases& cases) {
  Shape histogram(cases, kTool, "histogram_u32", "u32", 1.0 * kKeys, 4.0 * kKeys, {"dram", "l1"});
  histogram.clean("words8192", histogram_case(8192));
  histogram.clean("words4096", histogram_case(4096));
  histogram.defect("words256", 0.4, histogram_case(256)).in({"l2", "latency"});
  histogram.defect("global", 1, histogram_global_case).in({"l2", "latency"});
  histogram.clean("words4096_clusters", histogram_cluster_case(4096));

  Shape sum(cases, kTool, "sum_f32", "f32", 2.0 * kSum, 4.0 * kSum, {"dram"});
  sum.clean("blocks", sum_case<Level::block>(8));
  sum.clean("blocks_turns16", sum_case<Level::block>(16));
  sum.defect("warps", 0.4, sum_case<Level::warp>(1)).in({"l2", "latency"});
  sum.defect("threads", 1, sum_case<Level::thread>(1)).in({"l2", "latency"});

  Shape weigh(cases, kTool, "weigh_u32", "u32", 1.0 * kWeights, 4.0 * kWeights, {"dram", "l1"});
  weigh.clean("copies32", weigh_case<32>);
  weigh.clean("copies16", weigh_case<16>);
  weigh.defect("copies2", 0.6, weigh_case<2>).in({"l1", "latency"});
  weigh.defect("copies1", 1, weigh_case<1>).in({"l1", "latency"});

  Shape jobs(cases, kTool, "jobs_f16", "f16", 8.0 * kJobs * 32, (512.0 + 128.0) * kJobs, {"dram"});
  jobs.clean("jobs32", jobs_case(32));
  jobs.clean("jobs16", jobs_case(16));
  jobs.defect("jobs2", 0.6, jobs_case(2)).in({"latency", "l2"});
  jobs.defect("jobs1", 1, jobs_case(1)).in({"latency", "l2"});

  Shape total(cases, kTool, "total_u64", "u32", 1.0 * kTotal, 4.0 * kTotal, {"dram"});
  total.clean("blocks8", total_case<Level::block>(8));
  total.clean("blocks16", total_case<Level::block>(16));
  total.defect("threads32", 0.5, total_case<Level::thread>(32)).in({"l2", "latency"});
  total.defect("threads8", 1, total_case<Level::thread>(8)).in({"l2", "latency"});

  Shape tickets(cases, kTool, "tickets_f32", "f32", 2.0 * 256 * kTickets, 8.0 * kTickets, {"alu"});
  tickets.clean("blocks", tickets_case<Level::block>);
  tickets.defect("warps", 0.4, tickets_case<Level::warp>).in({"l2", "latency", "alu"});
  tickets.defect("threads", 1, tickets_case<Level::thread>).in({"l2", "latency"});

  Shape gathered(cases, kTool, "shared_sum_f32", "f32", 2.0 * kGathered, 4.0 * kGathered, {"dram"});
  gathered.clean("registers", gather_case<0>);
  gathered.defect("places8", 0.7, gather_case<8>).in({"l1", "latency", "alu"});
  gathered.defect("places1", 1, gather_case<1>).in({"l1", "latency", "alu"});

  Shape spread(cases, kTool, "spread_f32", "f32", 1.0 * kSpread, 12.0 * kSpread, {"dram"});
  spread.clean("plain", spread_case<false>);
  spread.tempting("atomic", spread_case<true>);

  Shape late(cases, kTool, "late_f32", "f32", 8192.0 * kLate, 4.0 * kLate, {"alu"});
  late.tempting("atomic", late_case);
}

}  // namespace defects
