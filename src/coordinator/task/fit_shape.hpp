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

// Whether a reach may stay short of its formula. Where sizes are factors of others they are so
// small that almost anything is near.
enum class Closeness { near, exact };

// The extents whose product is the reach at every observation, plain axes first; else, where that
// will do, the product of axes that it comes near to from below, as a stencil that leaves out an
// edge does; else a sum of products. Nothing where no such formula fits.
[[nodiscard]] std::optional<std::vector<std::string>> fit_shape(
    const std::vector<Reach>& reaches, Closeness how_close = Closeness::near);

// The least product of axes, times 2 to 4 where needed, that was exceeded nowhere.
[[nodiscard]] std::optional<std::string> cover_shape(const std::vector<Reach>& reaches);

}  // namespace kernelpro
