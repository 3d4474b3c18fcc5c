// Fences and polling in more shapes: histories that others could read, counters read by atomics,
// and queues and sums in order that cost little beside the work.
#include "defects.cuh"

namespace defects {
namespace {

constexpr char kTool[] = "memory_fences";

// ---- states that each thread writes down, as if others followed them ----

constexpr std::uint32_t kStates = kMultiprocessors * 2048;
constexpr int kTurns = 64;

enum class Follow { nobody, fence_in4, fence, volatile_state };

template <Follow FOLLOW>
__global__ void __launch_bounds__(256) histories(float* y, const float* x) {
  const std::uint32_t i = blockIdx.x * 256 + threadIdx.x;
  float value = x[i];
  volatile float* shown = y;
#pragma unroll 1
  for (int turn = 0; turn < kTurns; ++turn) {
    value = fma_chain(value, 32);
    if (FOLLOW == Follow::volatile_state) {
      shown[i] = value;
      value = shown[i] + 0.01f;
    } else {
      y[i] = value;
      value += 0.01f;
      if (FOLLOW == Follow::fence || (FOLLOW == Follow::fence_in4 && turn % 4 == 0)) {
        __threadfence();
      }
    }
  }
  y[i] = value;
}

template <Follow FOLLOW>
Work histories_case(Pool& pool) {
  auto* x = pool.random<float>(kStates);
  auto* y = pool.take<float>(kStates);
  return {[=] { histories<FOLLOW><<<kStates / 256, 256>>>(y, x); }, output(y, kStates)};
}

// ---- sums over values that are read by atomics that add nothing ----

constexpr int kReads = 64;

enum class Read { plain, add_in8, add };

template <Read READ>
__global__ void __launch_bounds__(256) atomic_sums(std::uint32_t* y, std::uint32_t* x) {
  const std::uint32_t i = blockIdx.x * 256 + threadIdx.x;
  std::uint32_t sum = 0;
#pragma unroll 8
  for (int k = 0; k < kReads; ++k) {
    std::uint32_t* from = x + k * 4096 + i % 4096;
    const bool atomic = READ == Read::add || (READ == Read::add_in8 && k % 8 == 0);
    sum = sum * 3 + (atomic ? atomicAdd(from, 0u) : *from);
  }
  y[i] = sum;
}

template <Read READ>
Work atomic_sums_case(Pool& pool) {
  auto* x = pool.random<std::uint32_t>(4096 * kReads);
  auto* y = pool.take<std::uint32_t>(kStates);
  return {[=] { atomic_sums<READ><<<kStates / 256, 256>>>(y, x); }, output(y, kStates, 0)};
}

// ---- tempting: blocks that add up in order, each behind the one before ----

constexpr int kOrdered = kMultiprocessors * 4;  // all run at once

enum class Order { any, behind };

// A block's sum is added when those before it are: one thread waits for its turn, after a long
// loop. In small numbers, so that any order gives the same.
template <Order ORDER>
__global__ void __launch_bounds__(256)
    ordered_sums(float* y, const float* x, float* total, std::uint32_t* turn) {
  const std::uint32_t i = blockIdx.x * 256 + threadIdx.x;
  float value = x[i];
#pragma unroll 1
  for (int k = 0; k < 64; ++k) value = fma_chain(value, 256);
  y[i] = value;
  const float sum = block_sum(truncf(value * 4));
  if (threadIdx.x != 0) return;
  if (ORDER == Order::any) {
    atomicAdd(total, sum);
    return;
  }
  volatile std::uint32_t* now = turn;
  while (*now != blockIdx.x) {
  }
  *total += sum;
  __threadfence();
  *now = blockIdx.x + 1 == gridDim.x ? 0 : blockIdx.x + 1;
}

template <Order ORDER>
Work ordered_case(Pool& pool) {
  auto* x = pool.random<float>(kOrdered * 256);
  auto* y = pool.take<float>(kOrdered * 256);
  auto* total = pool.take<float>(1);
  auto* turn = pool.take<std::uint32_t>(1);
  REQUIRE(cudaMemset(turn, 0, 4));
  REQUIRE(cudaMemset(total, 0, 4));
  return {[=] { ordered_sums<ORDER><<<kOrdered, 256>>>(y, x, total, turn); },
          output(y, kOrdered * 256)};
}

// ---- tempting: a fence for each result of a long loop ----

template <bool FENCES>
__global__ void __launch_bounds__(256) long_results(float* y, const float* x) {
  const std::uint32_t i = blockIdx.x * 256 + threadIdx.x;
  float value = x[i];
#pragma unroll 1
  for (int k = 0; k < 8; ++k) {
    value = fma_chain(value + 0.01f, 2048);
    y[k * kStates + i] = value;
    if (FENCES) __threadfence();
  }
}

template <bool FENCES>
Work long_results_case(Pool& pool) {
  auto* x = pool.random<float>(kStates);
  auto* y = pool.take<float>(kStates * 8);
  return {[=] { long_results<FENCES><<<kStates / 256, 256>>>(y, x); }, output(y, kStates * 8)};
}

}  // namespace

void add_memory_fences_queues(Cases& cases) {
  const std::vector<std::string> waiting = {"latency", "l2", "dram", "l1", "alu"};
  const double turned = 1.0 * kStates * kTurns;
  Shape histories(cases, kTool, "histories_f32", "f32", 64 * turned, 8.0 * kStates,
                  {"alu", "latency", "l1", "l2"});
  histories.clean("nobody", histories_case<Follow::nobody>);
  histories.defect("fence_in4", 0.5, histories_case<Follow::fence_in4>).in(waiting);
  histories.defect("fence", 1, histories_case<Follow::fence>).in(waiting);
  histories.defect("volatile_state", 0.7, histories_case<Follow::volatile_state>)
      .with({"repeated_loads"})
      .in(waiting);

  const double read = 1.0 * kStates * kReads;
  Shape sums(cases, kTool, "atomic_sums_u32", "u32", 2 * read, 4.0 * kStates,
             {"l1", "l2", "latency"});
  sums.clean("plain", atomic_sums_case<Read::plain>).with({"repeated_loads"});
  sums.defect("add_in8", 0.4, atomic_sums_case<Read::add_in8>).with({"repeated_loads"}).in(waiting);
  sums.defect("add", 1, atomic_sums_case<Read::add>).in(waiting);

  Shape order(cases, kTool, "ordered_sums_f32", "f32", 32768.0 * 256 * kOrdered, 2048.0 * kOrdered,
              {"alu", "latency"});
  order.clean("any", ordered_case<Order::any>).with({"block_shortage", "occupancy_limiter"});
  order.tempting("behind", ordered_case<Order::behind>)
      .with({"block_shortage", "occupancy_limiter"});

  Shape results(cases, kTool, "long_results_f32", "f32", 32768.0 * kStates, 36.0 * kStates,
                {"alu", "latency"});
  results.clean("plain", long_results_case<false>);
  results.tempting("fences", long_results_case<true>);
}

}  // namespace defects
