#include "coordinator/loop/replay.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace kernelpro {

namespace {

// Half of the interval, in logarithms; of one that is open to one side nothing is known.
double noise_of(const Node& node) {
  const Interval& interval = node.speedup_interval;
  const bool known = interval.low > 0 && interval.high >= interval.low;
  return known && node.id != root_node ? std::log(interval.high / interval.low) / 2 : 0;
}

// What the next step may gain, by the largest finding. What memory knows of such findings and moves
// belongs here too.
double outlook_of(const Diagnosis& diagnosis) {
  double gain = 1;
  for (const Finding& finding : diagnosis.findings) {
    gain = std::max(gain, finding.predicted_gain);
  }
  return std::log(gain);
}

// A profile says it more exactly than times do.
int kind_of(const Diagnosis& diagnosis) {
  constexpr int after_bottlenecks = 100;
  return diagnosis.kind == KernelClass::unknown
             ? static_cast<int>(diagnosis.bottleneck)
             : after_bottlenecks + static_cast<int>(diagnosis.kind);
}

}  // namespace

SearchResult search_result(const Node& node, const RunSettings& settings) {
  Outcome outcome = Outcome::not_judged;
  if (node.state == NodeState::judged) {
    outcome = node.outcome;
  } else if (node.state == NodeState::unwritten) {
    // What is no code does not build.
    outcome = Outcome::build_failed;
  }
  SearchResult result;
  result.node = node.id;
  result.outcome = outcome;
  result.speedup = expected_speedup(node);
  result.eligible = may_be_best(settings, node);
  result.noise = noise_of(node);
  result.promised = std::log(std::max(node.predicted_gain, 1.0));
  result.outlook = outlook_of(node.diagnosis);
  result.kind = kind_of(node.diagnosis);
  return result;
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
