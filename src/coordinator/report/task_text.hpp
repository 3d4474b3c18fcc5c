// A task as text for people.
#pragma once

#include <string>

#include "common/model/task.hpp"

namespace kernelpro {

// What it computes, from what, at which sizes, and what is right; many lines.
[[nodiscard]] std::string task_text(const Task& task);

}  // namespace kernelpro
