// What the micro-profiling tools' findings led to, over the nodes of runs.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "common/model/node.hpp"
#include "common/model/tool_record.hpp"

namespace kernelpro {

// Adds the nodes of one run, which were judged on `device`.
void add_to_records(const std::vector<Node>& nodes, const std::string& device,
                    std::vector<ToolRecord>& records);

// As a table, a row a tool, the one that fired most first; a sentence where there is none.
[[nodiscard]] std::string tools_table(const std::vector<ToolRecord>& all);
[[nodiscard]] nlohmann::json tools_json(const std::vector<ToolRecord>& records);

}  // namespace kernelpro
