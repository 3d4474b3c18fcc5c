// Which failure to repair before the search is asked again.
//
// A search learns nothing from a failure but that it failed: a bold plan whose first draft has a
// mistake would lose to any timid one that passes. What was promised for it still holds once the
// mistake is out, so a promising failure is repaired at once, a bounded number of times.
#pragma once

#include <optional>
#include <vector>

#include "common/model/run.hpp"
#include "coordinator/search/search.hpp"

namespace kernelpro {

// How often a branch may be repaired before it is given up; without models never.
[[nodiscard]] int repairs_allowed(const RunSettings& settings);

// How many nodes in a row, from `id` toward the root, have failed.
[[nodiscard]] int failures_in_a_row(const std::vector<Node>& nodes, NodeId id);

// The failure written by models that promises most: its plan's predicted gain over the speed of the
// candidate that it was planned for. Only what promises more than `best` has reached, has failed no
// more than `repairs` times in a row, and is not being repaired already.
[[nodiscard]] std::optional<Choice> promising_repair(const std::vector<Node>& nodes,
                                                     const Node& best, int repairs);

}  // namespace kernelpro
