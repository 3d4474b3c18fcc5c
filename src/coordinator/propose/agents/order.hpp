// What the agents are asked for, and all that they may know.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/model/ceilings.hpp"
#include "common/model/certificate.hpp"
#include "common/model/lesson.hpp"
#include "common/model/node.hpp"
#include "common/model/run.hpp"
#include "coordinator/propose/move.hpp"

namespace kernelpro {

// What was tried before, as the agents see it.
struct Tried {
  Node node;
  std::optional<Verdict> verdict;  // with its evidence; none: duplicate, unwritten, not judged
};

// All that one proposal is made from. Values only: prompts are a function of it, so it has to be
// the same whenever a run is taken up again.
struct AgentOrder {
  NodeId node = root_node;   // the node that the proposal will be
  const Run* run = nullptr;  // task, settings
  MachineRecord machine;     // what it is judged on
  Ceilings ceilings;         // measured there
  Candidate parent;          // its source
  Tried parent_tried;
  std::vector<KernelResources> parent_kernels;  // as its certificate has them; empty on a CPU
  std::vector<std::string> parent_warnings;     // of its compiler, about speed
  std::vector<Tried> branch;                    // from the root to the parent's parent
  std::vector<Tried> siblings;                  // ended children of the parent, by id
  int under_way = 0;          // children of the parent that were chosen before and had not ended
  std::vector<Node> planned;  // of these, those that had a plan when they were chosen
  std::vector<Tried> all;     // every ended node, by id: the memory is made of it
  std::vector<Move> moves;    // that fit backend and parent
  std::vector<std::string> compilers;  // that the worker has; empty: not known
  std::vector<Advice> lessons;         // what other runs say of moves here, the weightiest first
  std::vector<std::string> facts;      // what models got wrong in other runs
  double best_speedup = 1;
  std::int64_t evaluations_left = 0;
  std::optional<std::int64_t> tokens_left;  // when the node was chosen; none: not told
};

// Whether there is no kernel yet: the parent is a module that PyTorch runs.
[[nodiscard]] inline bool has_no_kernel(const AgentOrder& order) {
  return order.parent.compiler == torch_compiler;
}

[[nodiscard]] inline bool has_failed(const Node& node) {
  return node.state == NodeState::judged && node.outcome != Outcome::passed &&
         node.outcome != Outcome::not_judged;
}

}  // namespace kernelpro
