// One node of a run, for programs.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "common/model/node.hpp"

namespace kernelpro {

// As schemas/node.json says. The baseline's speed-up is 1, also where it was not judged yet or is
// not among `nodes`.
[[nodiscard]] nlohmann::json node_json(const std::vector<Node>& nodes, NodeId id);

}  // namespace kernelpro
