#include "coordinator/loop/replay.hpp"

#include <map>

namespace kernelpro {

SearchResult search_result(const Node& node, const RunSettings& settings) {
  Outcome outcome = Outcome::not_judged;
  if (node.state == NodeState::judged) {
    outcome = node.outcome;
  } else if (node.state == NodeState::unwritten) {
    // What is no code does not build.
    outcome = Outcome::build_failed;
  }
  return {node.id, outcome, node.speedup, may_be_best(settings, node)};
}

std::int64_t replay(const LoopHistory& history, Search& search,
                    const std::function<void(const Node&)>& ended,
                    const std::function<void(const Node&)>& born) {
  std::map<std::int64_t, std::function<void()>> events;
  for (const Node& node : history.nodes) {
    events[node.born] = [&] {
      search.begin(node.id, node.parent);
      if (born) {
        born(node);
      }
    };
    if (node.ended > 0) {
      events[node.ended] = [&] { ended(node); };
    }
  }
  for (const Closure& closure : history.closures) {
    events[closure.at] = [&] { search.close(closure.node, closure.reason); };
  }
  std::int64_t last = 0;
  for (const auto& [at, happen] : events) {
    happen();
    last = at;
  }
  return last;
}

}  // namespace kernelpro
