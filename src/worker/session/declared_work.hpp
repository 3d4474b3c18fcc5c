// What the diagnoses of a GPU and of processors share.
#pragma once

#include <cstdint>

#include "common/model/orders.hpp"
#include "common/model/profile.hpp"
#include "common/model/task.hpp"
#include "worker/profile/profiled_program.hpp"

namespace kernelpro {

// For one run of a program.
inline constexpr std::int64_t default_profile_timeout_ms = 120'000;

[[nodiscard]] DeclaredWork declared_work(const Task& task, const Axes& axes);

void set_environment(const DiagnoseOrder& order, ProfiledProgram& program);

}  // namespace kernelpro
