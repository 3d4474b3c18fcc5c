// What the tools found in profiled nodes. For the files of this room only.
#pragma once

#include <cstdint>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/node.hpp"
#include "coordinator/store/database.hpp"

namespace kernelpro::store {

// Their table is made when it is first needed, so that stores from before it need no change. Writes
// nothing for a node that was not profiled.
[[nodiscard]] Status keep_findings(Database& database, std::int64_t run, const Node& node);
// Puts what was kept into the nodes, which are of that run.
[[nodiscard]] Status add_findings(Database& database, std::int64_t run, std::vector<Node>& nodes);

}  // namespace kernelpro::store
