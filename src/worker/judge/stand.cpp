#include "worker/judge/stand.hpp"

#include <fmt/format.h>

#include <atomic>

namespace kernelpro {

SetMemory::SetMemory() {
  static std::atomic<std::uint64_t> last = 0;
  id_ = ++last;
}

Result<Stand> Stand::make(const Task& task, Ground& ground, const Axes& axes, int sets,
                          const Key& scalar_key) {
  KP_LET(BufferPlan plan,
         plan_buffers(task, axes, sets, scalar_key, PlanKind::candidate, ground.units()));
  Stand stand;
  stand.plan_holder = std::make_unique<BufferPlan>(std::move(plan));
  stand.scalar_key = scalar_key;
  KP_LET(stand.memory, ground.lay_out(task, stand.plan()));
  return stand;
}

std::optional<Failure> prepare_blindly(const Stand& stand, Arm& arm, std::int64_t timeout_ms) {
  if (!arm.has_prepare()) {
    return std::nullopt;
  }
  stand.memory->give_constants(arm.side());
  return arm.prepare(timeout_ms);
}

std::optional<Failure> check_memory(const Stand& stand, Side side,
                                    const std::vector<std::uint16_t>& called) {
  const Touched touched = stand.memory->touched(side, called);
  if (touched.uncalled_set) {
    return Failure{Outcome::cheated,
                   "ahead",
                   "it wrote the outputs of a call that was never made",
                   {fmt::format("buffer set {} of {} was not called", *touched.uncalled_set,
                                stand.plan().sets)}};
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
