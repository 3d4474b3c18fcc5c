// Shapes from observation: how far a function reached at several sizes, as formulas over them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/model/formula.hpp"

namespace kernelpro {

struct Reach {
  Axes axes;
  std::int64_t elements = 0;  // one behind the last that was touched
};

// The extents whose product is the reach at every observation, plain axes first; else the product
// of axes that it comes close to from below, as a stencil that leaves out an edge does; else a sum
// of products. Nothing where no such formula fits.
[[nodiscard]] std::optional<std::vector<std::string>> fit_shape(const std::vector<Reach>& reaches);

// The least product of axes, times 2 to 4 where needed, that was exceeded nowhere.
[[nodiscard]] std::optional<std::string> cover_shape(const std::vector<Reach>& reaches);

}  // namespace kernelpro
