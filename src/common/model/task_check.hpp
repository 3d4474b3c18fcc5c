// The parts of validate_task.
#pragma once

#include <string>

#include "common/model/task.hpp"

namespace kernelpro {

inline Error task_error(std::string key, std::string message) {
  return make_error(ErrorKind::bad_input, std::move(message), std::move(key));
}

// What must hold whatever the shape: names, value kinds, files, the reference's call.
[[nodiscard]] Status check_structure(const Task& task);

// What must hold at one shape, given with its derived axes: every formula has a value, and the
// inputs can be drawn. Expects what check_structure checks.
[[nodiscard]] Status check_at(const Task& task, const Axes& axes);

}  // namespace kernelpro
