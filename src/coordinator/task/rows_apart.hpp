// The reach into rows that lie at a distance of their own: leading dimensions, strides, pitches.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coordinator/task/fit_shape.hpp"

namespace kernelpro {

// "(m - 1)*ldc + n", "(h - 1)*stride + 3*w", "(d - 1)*slice + (h - 1)*pitch + w", where that is the
// reach at every observation.
[[nodiscard]] std::optional<std::string> rows_apart(const std::vector<Reach>& reaches);

}  // namespace kernelpro
