// What a call of a task has to do at least.
#pragma once

#include "common/model/task.hpp"

namespace kernelpro {

struct Work {
  double flops = 0;
  double bytes = 0;
  double written_share = 0;  // how much of the bytes goes to outputs
};

// As the task declares it, at all of its axes; 0 where a formula cannot be evaluated.
[[nodiscard]] Work work_at(const Task& task, const Axes& axes);

}  // namespace kernelpro
