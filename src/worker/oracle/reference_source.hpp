// Wraps a task's reference into the candidate ABI, so that the oracle can call it.
#pragma once

#include <string>

#include "common/model/task.hpp"

namespace kernelpro {

enum class ReferenceMode {
  values,  // Real is double: writes the expected outputs and the selections
  count,   // Real counts: writes the number of floating operations to the first output
};

// C++ source whose kp_launch takes the task's inputs, then the tensors of PlanKind::oracle.
[[nodiscard]] std::string reference_source(const Task& task, ReferenceMode mode);

}  // namespace kernelpro
