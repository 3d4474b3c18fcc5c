// The buffers of one shape, for the arms of a comparison.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "worker/judge/arm.hpp"
#include "worker/judge/ground.hpp"

namespace kernelpro {

struct ShapeBuffers {
  std::unique_ptr<BufferPlan> plan_holder;  // the memory keeps a reference to it
  Key scalar_key;
  std::unique_ptr<SetMemory> memory;

  [[nodiscard]] static Result<ShapeBuffers> make(const Task& task, Ground& ground, const Axes& axes,
                                                 int sets, const Key& scalar_key);
  [[nodiscard]] const BufferPlan& plan() const { return *plan_holder; }
};

// Runs the arm's kp_prepare, if it has one, while every input that is not constant is poison, so
// that nothing prepared can depend on them.
[[nodiscard]] std::optional<Failure> prepare_blindly(const ShapeBuffers& buffers, Arm& arm,
                                                     std::int64_t timeout_ms);

// Why an arm with a kp_prepare is refused: the task has no constant input. Asked before each round:
// a hostile runner may say so at any time.
[[nodiscard]] std::optional<Failure> refuse_needless_prepare(const Task& task, const Arm& arm);

// A called set's slack is untouched and the sets that were not called are as they were; else why.
[[nodiscard]] std::optional<Failure> check_memory(const ShapeBuffers& buffers, Side side,
                                                  const std::vector<std::uint16_t>& called);

}  // namespace kernelpro
