// The loop around a search, on a synthetic landscape: deterministic, no clock, no processes.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/search/landscape.hpp"
#include "coordinator/search/search.hpp"

namespace kernelpro::landscape {

class Simulation {
 public:
  Simulation(Search& search, const Landscape& landscape) : search_(search), landscape_(landscape) {
    judge(root_node, no_node, landscape.baseline());
  }

  // The true log speed-up of the node that measured best after so many more evaluations.
  double run(int evaluations) {
    while (evaluations > 0) {
      const std::optional<Choice> choice = search_.ask();
      if (!choice) {
        break;
      }
      std::optional<State> next = propose(choice->parent);
      if (!next) {
        search_.close(choice->parent, "the playbook has nothing left");
      } else if (!seen_.contains(*next)) {
        judge(static_cast<NodeId>(nodes_.size()), choice->parent, std::move(*next));
        --evaluations;
      }
    }
    return best_true_;
  }

 private:
  struct Program {
    State state;
    bool passed = false;
    bool asked = false;       // whether the playbook was asked for proposals
    std::vector<State> left;  // proposals not tried yet, the next one last
  };

  std::optional<State> propose(NodeId parent) {
    Program& program = nodes_[static_cast<std::size_t>(parent)];
    // Without an advisor there is nothing to propose under what failed.
    if (program.passed && !program.asked) {
      program.left = landscape_.proposals(program.state);
      std::reverse(program.left.begin(), program.left.end());
      program.asked = true;
    }
    if (program.left.empty()) {
      return std::nullopt;
    }
    State next = std::move(program.left.back());
    program.left.pop_back();
    return next;
  }

  void judge(NodeId node, NodeId parent, State state) {
    const Judged judged = landscape_.judge(state);
    const double measured = judged.log_speedup + landscape_.noise(state);
    const bool passed = judged.outcome == Outcome::passed;
    search_.begin(node, parent);
    search_.tell({.node = node, .outcome = judged.outcome, .speedup = std::exp(measured)});
    if (passed && measured > best_measured_) {
      best_measured_ = measured;
      best_true_ = judged.log_speedup;
    }
    seen_.insert(state);
    nodes_.push_back({.state = std::move(state), .passed = passed, .asked = false, .left = {}});
  }

  Search& search_;
  const Landscape& landscape_;
  std::vector<Program> nodes_;  // by NodeId
  std::set<State> seen_;
  double best_measured_ = -1e9;
  double best_true_ = 0;
};

struct Player {
  std::string search;
  std::string preset;
};

// Final log speed-up, mean over seeds and over budgets of 50, 100 and 150 evaluations.
inline double mean_result(const Player& player, const std::string& family, std::uint64_t first_seed,
                          int seeds) {
  double total = 0;
  for (int i = 0; i < seeds; ++i) {
    const std::uint64_t seed = first_seed + static_cast<std::uint64_t>(i);
    const std::unique_ptr<Landscape> landscape = make_landscape(family, seed);
    const std::unique_ptr<Search> search = make_search(player.search, player.preset, seed).value();
    Simulation simulation(*search, *landscape);
    for (int stage = 0; stage < 3; ++stage) {
      total += simulation.run(50) / 3;
    }
  }
  return total / seeds;
}

}  // namespace kernelpro::landscape
