// The worlds that tree searches are played in, a file each.
#pragma once

#include <memory>

#include "coordinator/simulate/agent_tree.hpp"
#include "coordinator/simulate/replay_judge.hpp"
#include "coordinator/simulate/tree_world.hpp"

namespace kernelpro {

// The start is a drawn configuration that passes; a child changes one parameter of its parent, in
// an order that the seed draws. What is given must outlive it.
[[nodiscard]] std::unique_ptr<TreeWorld> configuration_world(const Landscape& landscape,
                                                             const Scores& scores,
                                                             std::uint64_t seed);

// Every seed is another tree of the model.
[[nodiscard]] std::unique_ptr<TreeWorld> agent_world(const AgentLandscape& landscape,
                                                     std::uint64_t seed);

}  // namespace kernelpro
