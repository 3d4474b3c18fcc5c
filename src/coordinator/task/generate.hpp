// The files of a new task, beside the user's own source.
#pragma once

#include <optional>
#include <string>

#include "coordinator/task/plan.hpp"

namespace kernelpro {

// `reference`: of the function in reference.hpp; none: what the original computes is right.
// `openmp`: the original is built with OpenMP.
[[nodiscard]] std::string generate_toml(const TaskPlan& plan,
                                        const std::optional<Signature>& reference, bool openmp);

// `real_source`: the reference's source in terms of Real.
[[nodiscard]] std::string generate_reference(const TaskPlan& plan, const Signature& reference,
                                             const std::string& real_source);

}  // namespace kernelpro
