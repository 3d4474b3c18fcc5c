// The three files of a new task.
#pragma once

#include <string>

#include "coordinator/task/plan.hpp"

namespace kernelpro {

// `openmp`: the original is built with OpenMP.
[[nodiscard]] std::string generate_toml(const TaskPlan& plan, bool openmp);

// `real_source`: the user's source in terms of Real.
[[nodiscard]] std::string generate_reference(const TaskPlan& plan, const std::string& real_source);

// `source`: the user's own, with its local headers in place.
[[nodiscard]] std::string generate_baseline(const TaskPlan& plan, const std::string& source);

}  // namespace kernelpro
