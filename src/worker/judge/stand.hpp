// The buffers of one shape that all arms of a comparison share.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "worker/judge/arm.hpp"
#include "worker/judge/ground.hpp"

namespace kernelpro {

// Every arm maps the same memory, so placement is the same for all.
struct Stand {
  std::unique_ptr<BufferPlan> plan_holder;  // the memory keeps a reference to it
  std::uint64_t scalar_seed = 0;
  std::unique_ptr<SetMemory> memory;

  [[nodiscard]] static Result<Stand> make(const Task& task, Ground& ground, const Axes& axes,
                                          int sets, std::uint64_t scalar_seed);
  [[nodiscard]] const BufferPlan& plan() const { return *plan_holder; }
};

// Runs the arm's kp_prepare, if it has one, while every input that is not constant is poisoned, so
// that nothing prepared can depend on them; `refill` then draws the inputs again.
[[nodiscard]] std::optional<Failure> prepare_blindly(const Stand& stand, Arm& arm,
                                                     std::int64_t timeout_ms,
                                                     const std::function<void()>& refill);

// A called set's slack is untouched and the sets that were not called are as they were; else why.
[[nodiscard]] std::optional<Failure> check_memory(const Stand& stand,
                                                  const std::vector<std::uint16_t>& called);

}  // namespace kernelpro
