// Fences, volatile and spinning in loops: memory is put in order, or asked again, more often than
// anyone looks at it.
#include "defects.cuh"

namespace defects {
namespace {

constexpr char kTool[] = "memory_fences";

// ---- results with a fence behind them, although nobody reads them before the end ----

constexpr int kResults = 64;
constexpr std::uint32_t kWriters = kMultiprocessors * 2048;

enum class Reach { device, system, block };

// A fence behind EVERY results; 0: none in the loop.
template <int EVERY, Reach REACH, bool AT_END>
__global__ void __launch_bounds__(256) results(float* y, const float* x) {
  const std::uint32_t i = blockIdx.x * 256 + threadIdx.x;
  const float start = x[i];
  float value = start;
#pragma unroll 1
  for (int k = 0; k < kResults; ++k) {
    value = fmaf(value, 0.75f, start);
    y[k * kWriters + i] = value;
    constexpr int every = EVERY == 0 ? 1 : EVERY;
    if (EVERY > 0 && k % every == 0) {
      if (REACH == Reach::device) __threadfence();
      if (REACH == Reach::system) __threadfence_system();
      if (REACH == Reach::block) __threadfence_block();
    }
  }
  if (AT_END) __threadfence();
}

template <int EVERY, Reach REACH = Reach::device, bool AT_END = false>
Work results_case(Pool& pool) {
  auto* x = pool.random<float>(kWriters);
  auto* y = pool.take<float>(kWriters * kResults);
  return {[=] { results<EVERY, REACH, AT_END><<<kWriters / 256, 256>>>(y, x); },
          output(y, kWriters * kResults)};
}

// ---- messages: a payload, a fence and a flag ----

constexpr int kMessages = 32;
constexpr std::uint32_t kSenders = kMultiprocessors * 2048;

// TOGETHER messages are written before one fence and their flags.
template <int TOGETHER>
__global__ void __launch_bounds__(256)
    messages(std::uint32_t* flags, std::uint32_t* y, const std::uint32_t* x) {
  const std::uint32_t i = blockIdx.x * 256 + threadIdx.x;
  std::uint32_t value = x[i];
#pragma unroll 1
  for (int k = 0; k < kMessages; k += TOGETHER) {
#pragma unroll
    for (int j = 0; j < TOGETHER; ++j) {
      value = value * 0x9e3779b1u + 1;
      y[(k + j) * kSenders + i] = value;
    }
    __threadfence();
#pragma unroll
    for (int j = 0; j < TOGETHER; ++j) flags[(k + j) * kSenders + i] = 1;
  }
}

template <int TOGETHER>
Work messages_case(Pool& pool) {
  auto* x = pool.random<std::uint32_t>(kSenders);
  auto* flags = pool.take<std::uint32_t>(kSenders * kMessages);
  auto* y = pool.take<std::uint32_t>(kSenders * kMessages);
  return {[=] { messages<TOGETHER><<<kSenders / 256, 256>>>(flags, y, x); },
          output(y, kSenders * kMessages, 0)};
}

// ---- a filter whose samples are loaded as if others changed them ----

constexpr int kTaps = 64;
constexpr std::uint32_t kFiltered = kMultiprocessors * 2048 * 8;

enum class Load { plain, volatiles, half_volatile, acquire, acquire_in8, relaxed_in32 };

__device__ __forceinline__ float acquired(const float* p) {
  float value;
  asm volatile("ld.acquire.gpu.global.f32 %0, [%1];" : "=f"(value) : "l"(p) : "memory");
  return value;
}

template <Load LOAD>
__device__ __forceinline__ float loaded(const float* p, int k) {
  const bool rare = LOAD == Load::acquire_in8 && k % 8 == 0;
  if (LOAD == Load::acquire || rare) return acquired(p);
  if (LOAD == Load::volatiles || (LOAD == Load::half_volatile && k % 2 == 0)) {
    return *static_cast<const volatile float*>(p);
  }
  return *p;
}

template <Load LOAD>
__global__ void __launch_bounds__(256) filter(float* y, const float* x) {
  const std::uint32_t i = blockIdx.x * 256 + threadIdx.x;
  float sum = 0;
#pragma unroll 8
  for (int k = 0; k < kTaps; ++k) sum = fmaf(sum, 0.875f, loaded<LOAD>(x + i + k, k));
  y[i] = sum;
}

template <Load LOAD>
Work filter_case(Pool& pool) {
  auto* x = pool.random<float>(kFiltered + 1024);
  auto* y = pool.take<float>(kFiltered);
  return {[=] { filter<LOAD><<<kFiltered / 256, 256>>>(y, x); }, output(y, kFiltered)};
}

// ---- a table that is read by atomics ----

constexpr std::uint32_t kTable = 1u << 20;
constexpr int kReads = 32;
constexpr std::uint32_t kReaders = kMultiprocessors * 2048;

enum class Read { plain, past_l1, add, exchange, add_in4 };

template <Read READ>
__device__ __forceinline__ std::uint32_t word_of(std::uint32_t* p, int k) {
  if (READ == Read::add || (READ == Read::add_in4 && k % 4 == 0)) return atomicAdd(p, 0u);
  if (READ == Read::exchange) return atomicCAS(p, 0u, 0u);
  return READ == Read::past_l1 ? __ldcg(p) : *p;
}

template <Read READ>
__global__ void __launch_bounds__(256)
    table_reads(std::uint32_t* y, const std::uint32_t* x, std::uint32_t* table) {
  const std::uint32_t i = blockIdx.x * 256 + threadIdx.x;
  std::uint32_t place = x[i] % kTable;
  std::uint32_t sum = 0;
#pragma unroll 4
  for (int k = 0; k < kReads; ++k) {
    sum += word_of<READ>(table + place, k) >> k;
    place = (place * 5 + 12345) % kTable;
  }
  y[i] = sum;
}

template <Read READ>
Work table_case(Pool& pool) {
  auto* x = pool.random<std::uint32_t>(kReaders);
  auto* table = pool.random<std::uint32_t>(kTable);
  auto* y = pool.take<std::uint32_t>(kReaders);
  return {[=] { table_reads<READ><<<kReaders / 256, 256>>>(y, x, table); }, output(y, kReaders, 0)};
}

// ---- steps between which all blocks wait for each other, although each has data of its own ----

constexpr int kGridSteps = 64;
constexpr std::uint32_t kGridBlocks = kMultiprocessors * 2;  // all run at once

// `state` has how many blocks have arrived, and how often all had.
template <bool ALL_POLL>
__device__ void wait_for_all(volatile std::uint32_t* state) {
  const std::uint32_t turn = state[1];
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    if (atomicAdd(const_cast<std::uint32_t*>(state), 1u) == gridDim.x - 1) {
      state[0] = 0;
      __threadfence();
      state[1] = turn + 1;
    }
  }
  if (ALL_POLL || threadIdx.x == 0) {
    while (state[1] == turn) {
    }
  }
  __syncthreads();
}

// EVERY so many steps; 0: never.
template <int EVERY, bool ALL_POLL>
__global__ void __launch_bounds__(256) grid_steps(float* y, const float* x, std::uint32_t* state) {
  const std::uint32_t i = blockIdx.x * 256 + threadIdx.x;
  float value = x[i];
#pragma unroll 1
  for (int step = 0; step < kGridSteps; ++step) {
    value = fma_chain(value + 0.01f, 512);
    y[i] = value;
    constexpr int every = EVERY == 0 ? 1 : EVERY;
    if (EVERY > 0 && step % every == 0) wait_for_all<ALL_POLL>(state);
  }
}

template <int EVERY, bool ALL_POLL>
Work grid_case(Pool& pool) {
  auto* x = pool.random<float>(kGridBlocks * 256);
  auto* y = pool.take<float>(kGridBlocks * 256);
  auto* state = pool.take<std::uint32_t>(2);
  REQUIRE(cudaMemset(state, 0, 8));
  return {[=] { grid_steps<EVERY, ALL_POLL><<<kGridBlocks, 256>>>(y, x, state); },
          output(y, kGridBlocks * 256)};
}

// ---- sums behind locks ----

constexpr std::uint32_t kCells = 1u << 16;
constexpr std::uint32_t kUpdates = kMultiprocessors * 2048;

// Each cell has a lock beside it. LOCKS: a thread tries until it has it.
template <bool LOCKS>
__global__ void __launch_bounds__(256) update_cells(std::uint32_t* y, std::uint32_t* locks,
                                                    const std::uint32_t* x, std::uint32_t cells) {
  const std::uint32_t i = blockIdx.x * 256 + threadIdx.x;
#pragma unroll 1
  for (int k = 0; k < 4; ++k) {
    const std::uint32_t cell = (x[i] * 0x9e3779b1u + k * 977) % cells;
    if (!LOCKS) {
      atomicAdd(y + cell, x[i] >> 20);
      continue;
    }
    bool done = false;
    while (!done) {
      if (atomicCAS(locks + cell, 0u, 1u) == 0u) {
        __threadfence();
        volatile std::uint32_t* sum = y + cell;
        *sum = *sum + (x[i] >> 20);
        __threadfence();
        atomicExch(locks + cell, 0u);
        done = true;
      }
    }
  }
}

template <bool LOCKS, std::uint32_t CELLS>
Work cells_case(Pool& pool) {
  auto* x = pool.random<std::uint32_t>(kUpdates);
  auto* locks = pool.take<std::uint32_t>(kCells);
  auto* y = pool.take<std::uint32_t>(kCells);
  REQUIRE(cudaMemset(locks, 0, kCells * 4));
  return {[=] { update_cells<LOCKS><<<kUpdates / 256, 256>>>(y, locks, x, CELLS); },
          output(y, CELLS, 0)};
}

// ---- tempting: one fence and one atomic a block, at the end of a long read ----

constexpr std::uint32_t kSumRows = 16384;

enum class End { plain, last_block, volatile_shared };

// Sums of rows; LAST_BLOCK: whoever is last adds up all of them too.
template <End END>
__global__ void __launch_bounds__(256)
    row_sums(float* y, float* all, std::uint32_t* arrived, const float4* x) {
  __shared__ float part[256];
  __shared__ bool last;
  const float4* row = x + std::size_t{blockIdx.x} * 2048 + threadIdx.x;
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    const float4 word = row[k * 256];
    sum += (word.x + word.y) + (word.z + word.w);
  }
  if (END == End::volatile_shared) {
    volatile float* own = part + threadIdx.x / 32 * 32;
    const int lane = threadIdx.x % 32;
    own[lane] = sum;
    for (int step = 16; step > 0; step /= 2) {
      __syncwarp();
      const float other = lane < step ? own[lane + step] : 0;
      __syncwarp();
      own[lane] = own[lane] + other;
    }
    __syncthreads();
    sum = threadIdx.x < 8 ? part[threadIdx.x * 32] : 0;
    sum = warp_sum(sum);
  } else {
    sum = block_sum(sum);
  }
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
  if (END != End::last_block) return;
  if (threadIdx.x == 0) {
    __threadfence();
    last = atomicInc(arrived, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  float total = 0;
  for (std::uint32_t k = threadIdx.x; k < gridDim.x; k += 256) total += __ldcg(y + k);
  part[threadIdx.x] = total;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int k = 1; k < 256; ++k) total += part[k];
    *all = total;
  }
}

template <End END>
Work row_sums_case(Pool& pool) {
  auto* x = pool.random<float>(std::size_t{kSumRows} * 8192);
  auto* arrived = pool.take<std::uint32_t>(1);
  auto* all = pool.take<float>(1);
  auto* y = pool.take<float>(kSumRows);
  REQUIRE(cudaMemset(arrived, 0, 4));
  return {[=] {
            row_sums<END><<<kSumRows, 256>>>(y, all, arrived, reinterpret_cast<const float4*>(x));
          },
          output(y, kSumRows, 1e-3)};
}

// ---- tempting: a flag looked at now and then, and tiles taken from a counter ----

constexpr std::uint32_t kLong = kMultiprocessors * 2048 * 4;

enum class Look { never, flag, counter, rare_fence };

template <Look LOOK>
__global__ void __launch_bounds__(256)
    long_loop(float* y, const float* x, std::uint32_t* state, std::uint32_t tiles) {
  __shared__ std::uint32_t tile;
  std::uint32_t next = blockIdx.x;
  while (true) {
    if (LOOK == Look::counter) {
      __syncthreads();
      if (threadIdx.x == 0) tile = atomicInc(state, tiles + gridDim.x - 1);
      __syncthreads();
      next = tile;
    }
    if (next >= tiles) return;
    float value = x[next * 256 + threadIdx.x];
#pragma unroll 1
    for (int k = 0; k < 8; ++k) {
      value = fma_chain(value, 256);
      if (LOOK == Look::flag && *static_cast<volatile std::uint32_t*>(state) != 0) return;
      if (LOOK == Look::rare_fence && value > 4.0f) __threadfence();
    }
    y[next * 256 + threadIdx.x] = value;
    next += gridDim.x;
  }
}

template <Look LOOK>
Work long_loop_case(Pool& pool) {
  auto* x = pool.random<float>(kLong);
  auto* state = pool.take<std::uint32_t>(1);
  auto* y = pool.take<float>(kLong);
  REQUIRE(cudaMemset(state, 0, 4));
  return {[=] { long_loop<LOOK><<<kMultiprocessors * 8, 256>>>(y, x, state, kLong / 256); },
          output(y, kLong, 1e-4)};
}

}  // namespace

void add_memory_fences(Cases& cases) {
  const std::vector<std::string> waiting = {"latency", "l2", "dram", "l1"};
  const double written = 1.0 * kWriters * kResults;
  Shape results(cases, kTool, "results_f32", "f32", 2 * written, 4 * written, {"dram", "latency"});
  results.clean("none", results_case<0>);
  results.tempting("at_end", results_case<0, Reach::device, true>);
  results.defect("every8", 0.5, results_case<8>).in(waiting);
  results.defect("every1", 0.9, results_case<1>).in(waiting);
  results.defect("system", 1, results_case<1, Reach::system>).in(waiting);

  const double sent = 1.0 * kSenders * kMessages;
  Shape messages(cases, kTool, "messages_u32", "u32", 2 * sent, 8 * sent, {"dram", "latency"});
  messages.clean("together32", messages_case<32>);
  messages.defect("together4", 0.5, messages_case<4>).in(waiting);
  messages.defect("together1", 1, messages_case<1>).in(waiting);

  Shape filter(cases, kTool, "filter_f32", "f32", 2.0 * kTaps * kFiltered, 8.0 * kFiltered,
               {"l1", "alu", "latency"});
  filter.clean("plain", filter_case<Load::plain>);
  filter.defect("half_volatile", 0.4, filter_case<Load::half_volatile>).in(waiting);
  filter.defect("volatile", 0.6, filter_case<Load::volatiles>).in(waiting);
  filter.defect("acquire_in8", 0.8, filter_case<Load::acquire_in8>).in(waiting);
  filter.defect("acquire", 1, filter_case<Load::acquire>).in(waiting);

  Shape table(cases, kTool, "table_u32", "u32", 3.0 * kReads * kReaders, 8.0 * kReaders,
              {"l2", "latency", "l1"});
  table.clean("plain", table_case<Read::plain>).with({"uncoalesced_access"});
  table.clean("past_l1", table_case<Read::past_l1>).with({"uncoalesced_access"});
  table.defect("add_in4", 0.4, table_case<Read::add_in4>).with({"uncoalesced_access"}).in(waiting);
  table.defect("add", 0.8, table_case<Read::add>).with({"uncoalesced_access"}).in(waiting);
  table.defect("exchange", 1, table_case<Read::exchange>).with({"uncoalesced_access"}).in(waiting);

  const double stepped = 256.0 * kGridBlocks;
  Shape grid(cases, kTool, "grid_steps_f32", "f32", 1024.0 * kGridSteps * stepped, 8 * stepped,
             {"alu", "latency"});
  grid.clean("never", grid_case<0, false>).with({"block_shortage", "occupancy_limiter"});
  grid.defect("every4", 0.4, grid_case<4, false>)
      .with({"block_shortage", "occupancy_limiter"})
      .in(waiting);
  grid.defect("every1", 0.8, grid_case<1, false>)
      .with({"block_shortage", "occupancy_limiter"})
      .in(waiting);
  grid.defect("all_poll", 1, grid_case<1, true>)
      .with({"block_shortage", "occupancy_limiter"})
      .in(waiting);

  const double updated = 1.0 * kUpdates;
  Shape cells(cases, kTool, "cells_u32", "u32", 8 * updated, 8 * updated,
              {"l2", "latency", "dram"});
  cells.clean("atomics", cells_case<false, kCells>)
      .with({"contended_atomics", "uncoalesced_access"});
  cells.defect("locks", 1, cells_case<true, kCells>)
      .with({"contended_atomics", "uncoalesced_access"})
      .in(waiting);
  Shape few(cases, kTool, "few_cells_u32", "u32", 8 * updated, 8 * updated,
            {"l2", "latency", "dram"});
  few.clean("atomics", cells_case<false, 4096>).with({"contended_atomics", "uncoalesced_access"});
  few.defect("locks", 1, cells_case<true, 4096>)
      .with({"contended_atomics", "uncoalesced_access"})
      .in(waiting);

  Shape sums(cases, kTool, "row_sums_f32", "f32", 8192.0 * kSumRows, 32768.0 * kSumRows, {"dram"});
  sums.clean("plain", row_sums_case<End::plain>);
  sums.tempting("last_block", row_sums_case<End::last_block>);
  sums.tempting("volatile_tail", row_sums_case<End::volatile_shared>);

  Shape loop(cases, kTool, "long_loop_f32", "f32", 4096.0 * kLong, 8.0 * kLong, {"alu", "latency"});
  loop.clean("never", long_loop_case<Look::never>);
  loop.tempting("stop_flag", long_loop_case<Look::flag>);
  loop.tempting("tile_counter", long_loop_case<Look::counter>);
  loop.tempting("rare_fence", long_loop_case<Look::rare_fence>);
}

}  // namespace defects
