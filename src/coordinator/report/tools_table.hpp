// What the micro-profiling tools' findings led to, over the nodes of runs.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "common/model/node.hpp"

namespace kernelpro {

// One tool's record. A finding is followed where a child of its node makes a move that it names.
struct ToolRecord {
  std::string tool;
  int fired = 0;
  int followed = 0;
  int passed = 0;            // followed, by a candidate that passed
  double log_predicted = 0;  // sums over those that passed, of the logarithm of the gain
  double log_measured = 0;
  int gained = 0;  // of those that passed: by 5 % and more

  [[nodiscard]] double predicted() const;  // geometric means; 1 where there is none
  [[nodiscard]] double measured() const;
};

// Adds the nodes of one run to the records, which are by tool.
void add_to_records(const std::vector<Node>& nodes, std::vector<ToolRecord>& records);

// As a table, the tool that fired most first; a sentence where there is none.
[[nodiscard]] std::string tools_table(std::vector<ToolRecord> records);
[[nodiscard]] nlohmann::json tools_json(const std::vector<ToolRecord>& records);

}  // namespace kernelpro
