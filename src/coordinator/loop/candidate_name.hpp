// What the candidates of a run are called: laboratories and certificates know nodes by it.
#pragma once

#include <string>

#include "common/model/node.hpp"

namespace kernelpro {

[[nodiscard]] std::string candidate_name(NodeId id);
// Any name that is no node's is the baseline's.
[[nodiscard]] NodeId node_named(const std::string& name);

}  // namespace kernelpro
