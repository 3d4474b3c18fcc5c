// Which nodes of a run are measured once more at its end, and what is known of them then.
#pragma once

#include <cstdint>
#include <vector>

#include "common/model/certificate.hpp"
#include "common/model/run.hpp"

namespace kernelpro {

// Of the nodes that `phase` has not measured yet: the fastest that may be the run's best, within
// 10 % of the fastest of them, the baseline included; up to four, three where speed decides before
// energy. At the beginning of a phase the fastest suspects join them, up to three: measured again,
// they may turn out clean. Where time decides, they have to read faster than the baseline. The
// fastest first.
[[nodiscard]] std::vector<NodeId> choose_finalists(const std::vector<Node>& nodes,
                                                   const RunSettings& settings, std::int64_t phase);

// Whether a finalist's fresh verdict leaves what was known of it as it is: a clean timing never
// gives way to a suspect one, and nothing gives way to no judgment.
[[nodiscard]] bool keeps_its_figures(const Node& node, const Verdict& fresh,
                                     const RunSettings& settings);

// By the lower end of their intervals; of equals the faster, then the older.
[[nodiscard]] bool is_better_finalist(const Node& one, const Node& other);

// What a verdict against the baseline says of that node; its energy must have been measured.
[[nodiscard]] Finalist finalist_of(NodeId node, const Verdict& verdict);

}  // namespace kernelpro
