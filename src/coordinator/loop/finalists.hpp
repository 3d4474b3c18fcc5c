// Which nodes of a run are worth measuring their energy, and what is known of them then.
#pragma once

#include <vector>

#include "common/model/certificate.hpp"
#include "common/model/run.hpp"

namespace kernelpro {

// The fastest that may be the run's best and are within 10 % of the fastest of all, the baseline
// included: up to three where speed decides first, four where it does not. The fastest first.
[[nodiscard]] std::vector<NodeId> choose_finalists(const std::vector<Node>& nodes,
                                                   const RunSettings& settings);

// What a verdict against the baseline says of that node; its energy must have been measured.
[[nodiscard]] Finalist finalist_of(NodeId node, const Verdict& verdict);

}  // namespace kernelpro
