#include "coordinator/loop/repair.hpp"

#include <fmt/format.h>

#include <set>

#include "coordinator/loop/replay.hpp"
#include "coordinator/propose/agents/order.hpp"

namespace kernelpro {

namespace {

// Over the baseline. Repairs keep the plan that they repair.
double promise_of(const std::vector<Node>& nodes, const Node& failure) {
  double gain = failure.predicted_gain;
  NodeId id = failure.parent;
  for (; id > root_node && has_failed(node_at(nodes, id)); id = node_at(nodes, id).parent) {
    gain *= node_at(nodes, id).predicted_gain;
  }
  return gain * node_at(nodes, id).speedup;
}

std::set<NodeId> parents_in(const std::vector<Node>& nodes) {
  std::set<NodeId> out;
  for (const Node& one : nodes) {
    out.insert(one.parent);
  }
  return out;
}

}  // namespace

int repairs_allowed(const RunSettings& settings) {
  return settings.llm ? settings.llm->repairs : 0;
}

int failures_in_a_row(const std::vector<Node>& nodes, NodeId id) {
  int failures = 0;
  for (; id > root_node && has_failed(node_at(nodes, id)); id = node_at(nodes, id).parent) {
    ++failures;
  }
  return failures;
}

std::optional<Choice> promising_repair(const std::vector<Node>& nodes, const Node& best,
                                       int repairs) {
  const std::set<NodeId> parents = parents_in(nodes);
  std::optional<Choice> choice;
  double most = best.speedup;
  for (const Node& one : nodes) {
    if (!one.by_models || !has_failed(one) || parents.contains(one.id)) {
      continue;
    }
    const int failures = failures_in_a_row(nodes, one.id);
    const double promise = promise_of(nodes, one);
    if (failures <= repairs && promise > most) {
      most = promise;
      choice = Choice{one.id,
                      {fmt::format("node {} failed, and its plan promises {:.2f} times the "
                                   "baseline's speed, where the best has {:.2f}: repair {} of {}",
                                   one.id, promise, best.speedup, failures, repairs)}};
    }
  }
  return choice;
}

}  // namespace kernelpro
