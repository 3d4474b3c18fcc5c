#include "worker/judge/stand.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace kernelpro {

Result<Stand> Stand::make(const Task& task, const Axes& axes, int sets, std::uint64_t scalar_seed) {
  Stand stand;
  Result<BufferPlan> plan = plan_buffers(task, axes, sets, scalar_seed);
  if (!plan) {
    return plan.error();
  }
  Result<Arena> inputs = Arena::create(plan->input_bytes(), true);
  if (!inputs) {
    return inputs.error();
  }
  Result<Arena> outputs = Arena::create(plan->output_bytes(), false);
  if (!outputs) {
    return outputs.error();
  }
  stand.plan = std::move(*plan);
  stand.scalar_seed = scalar_seed;
  stand.inputs = std::move(*inputs);
  stand.outputs = std::move(*outputs);
  return stand;
}

std::optional<Failure> prepare_blindly(const Task& task, const Stand& stand, Arm& arm,
                                       std::int64_t timeout_ms,
                                       const std::function<void()>& refill) {
  if (!arm.has_prepare()) {
    return std::nullopt;
  }
  for (int set = 0; set < stand.plan.sets; ++set) {
    for (std::size_t i = 0; i < task.inputs.size(); ++i) {
      if (!task.inputs[i].constant) {
        std::memset(tensor_data(stand.plan, stand.inputs, set, i), poison_byte,
                    stand.plan.tensors[i].bytes);
      }
    }
  }
  auto failure = arm.prepare(timeout_ms);
  refill();
  return failure;
}

std::optional<Failure> check_memory(const Stand& stand, const std::vector<std::uint16_t>& called) {
  for (int set = 0; set < stand.plan.sets; ++set) {
    const bool was_called = std::find(called.begin(), called.end(), set) != called.end();
    if (!was_called && !still_poisoned(stand.plan, stand.outputs, set)) {
      return Failure{Outcome::cheated,
                     "ahead",
                     "it wrote the outputs of a call that was never made",
                     {fmt::format("buffer set {} of {} was not called", set, stand.plan.sets)}};
    }
    if (!was_called) {
      continue;
    }
    for (const GuardBreach& breach : find_breaches(stand.plan, stand.outputs, set)) {
      const std::int64_t distance = breach.before ? -breach.offset : breach.offset + 1;
      return Failure{Outcome::incorrect,
                     "guard",
                     fmt::format("it wrote outside {}: {} byte{} {}", breach.tensor, distance,
                                 distance == 1 ? "" : "s",
                                 breach.before ? "before its first" : "past its last"),
                     {}};
    }
  }
  return std::nullopt;
}

}  // namespace kernelpro
