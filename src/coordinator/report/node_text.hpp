// One node of a run, for people.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/certificate.hpp"
#include "common/model/node.hpp"

namespace kernelpro {

// What was tried and why, its verdict, its lineage from the root. `certificate` adds evidence and
// timing by shape; duplicates and nodes in flight have none. A bad_input error names the nodes
// there are.
[[nodiscard]] Result<std::string> node_text(const std::vector<Node>& nodes, NodeId id,
                                            const std::optional<Certificate>& certificate);

}  // namespace kernelpro
