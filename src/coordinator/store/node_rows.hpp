// Nodes as rows of the table `nodes`. For the files of this room only.
#pragma once

#include <cstdint>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/node.hpp"
#include "coordinator/store/database.hpp"

namespace kernelpro::store {

// `run` is the key of the run's row.
[[nodiscard]] Status insert_node(Database& database, std::int64_t run, const Node& node);
// Writes every column of a node that is there; changed_rows() is 0 when it is not.
[[nodiscard]] Status update_node(Database& database, std::int64_t run, const Node& node);
// In the order of their ids.
[[nodiscard]] Result<std::vector<Node>> select_nodes(Database& database, std::int64_t run);
// With one entry, or none.
[[nodiscard]] Result<std::vector<Node>> select_node(Database& database, std::int64_t run,
                                                    NodeId node);

}  // namespace kernelpro::store
