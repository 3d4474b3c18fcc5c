#include "worker/judge/shape_buffers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

namespace kernelpro {

SetMemory::SetMemory() {
  static std::atomic<std::uint64_t> last = 0;
  id_ = ++last;
}

Result<ShapeBuffers> ShapeBuffers::make(const Task& task, Ground& ground, const Axes& axes,
                                        int sets, const Key& scalar_key) {
  KP_LET(BufferPlan plan,
         plan_buffers(task, axes, sets, scalar_key, PlanKind::candidate, ground.units()));
  ShapeBuffers buffers;
  buffers.plan_holder = std::make_unique<BufferPlan>(std::move(plan));
  buffers.scalar_key = scalar_key;
  KP_LET(buffers.memory, ground.lay_out(task, buffers.plan()));
  return buffers;
}

std::optional<Failure> prepare_blindly(const ShapeBuffers& buffers, Arm& arm,
                                       std::int64_t timeout_ms) {
  if (!arm.has_prepare()) {
    return std::nullopt;
  }
  buffers.memory->give_constants(arm.side());
  return arm.prepare(timeout_ms);
}

std::optional<Failure> refuse_needless_prepare(const Task& task, const Arm& arm) {
  const bool constants = std::any_of(task.inputs.begin(), task.inputs.end(),
                                     [](const TensorSpec& input) { return input.constant; });
  if (!arm.has_prepare() || constants) {
    return std::nullopt;
  }
  return Failure{Outcome::launch_failed,
                 "prepare",
                 "it has a kp_prepare, but this task has no constant input to prepare",
                 {}};
}

std::optional<Failure> check_memory(const ShapeBuffers& buffers, Side side,
                                    const std::vector<std::uint16_t>& called) {
  const Touched touched = buffers.memory->touched(side, called);
  if (touched.uncalled_set) {
    return Failure{Outcome::cheated,
                   "ahead",
                   "it wrote the outputs of a call that was never made",
                   {fmt::format("buffer set {} of {} was not called", *touched.uncalled_set,
                                buffers.plan().sets)}};
  }
  if (touched.breach) {
    const GuardBreach& breach = *touched.breach;
    const std::int64_t distance = breach.before ? -breach.offset : breach.offset + 1;
    return Failure{
        Outcome::incorrect,
        "guard",
        fmt::format("it wrote outside {}: {} byte{} {}", breach.tensor, distance,
                    distance == 1 ? "" : "s", breach.before ? "before its first" : "past its last"),
        {}};
  }
  return std::nullopt;
}

}  // namespace kernelpro
