// Which checks an evaluation makes, and where their inputs come from.
#pragma once

#include <vector>

#include "worker/judge/reference.hpp"

namespace kernelpro {

// One check to make: a stage and where its inputs come from.
struct CheckCase {
  Stage stage = Stage::smoke;
  InputDraw draw;
};

// The checks of one evaluation, drawn from its master: a smoke test, the timed shapes, held-out
// shapes from the task's ranges, every distribution, repeatability, memory. The same master gives
// the same list.
[[nodiscard]] Result<std::vector<CheckCase>> draw_cases(const Task& task,
                                                        const std::vector<Axes>& timed_shapes,
                                                        const Key& master, int held_out_shapes);

// The list that a certificate's records repeat.
[[nodiscard]] Result<std::vector<CheckCase>> cases_from_records(
    const Task& task, const std::vector<CheckRecord>& records, const Key& master);

}  // namespace kernelpro
