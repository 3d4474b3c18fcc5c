// The search tree of a run.
#pragma once

#include "coordinator/html/markup.hpp"
#include "coordinator/report/run_report.hpp"

namespace kernelpro::html {

// A node each, children to the right of their parent; the way to the best runs along the top. Nodes
// lead to `#node-ID`. Empty when there are none.
[[nodiscard]] Markup tree_picture(const RunReport& report);

}  // namespace kernelpro::html
