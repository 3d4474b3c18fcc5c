// Findings of a diagnosis: what was seen, why, what to do, where.
#pragma once

#include <string>
#include <vector>

#include "common/model/finding.hpp"
#include "coordinator/html/markup.hpp"

namespace kernelpro::html {

// One finding; `lines` are those of the source that it points at.
[[nodiscard]] Markup finding_view(const Finding& finding, std::size_t number, const Markup& lines);

// How far each roof is used, as bars.
[[nodiscard]] Markup roofs_view(const std::vector<RoofUse>& roofs);

}  // namespace kernelpro::html
