// The numbers a tree search goes by. Each preset is one set of rules over one walk of the tree.
#pragma once

#include <memory>
#include <optional>

#include "common/model/verdict.hpp"

namespace kernelpro {

// What is known of a node and of everything under it.
struct Branch {
  bool is_root = false;
  bool failed = false;  // the node itself
  double reward = 0;    // of the node itself; of a failure that has none: its parent's
  int visits = 0;       // results told in the branch, the node's own among them
  int in_flight = 0;    // results awaited in the branch
  int rewarded = 0;     // results with a reward
  double total = 0;     // of rewards
  double best = 0;      // of rewards; meaningful once rewarded > 0
  int passed = 0;       // results that passed
  int children = 0;     // judged or in flight
  int judged_children = 0;
  int failed_children = 0;
  double outlook = 0;       // of the node itself, less the mean of all; 0: none
  bool other_kind = false;  // something else holds the node up than its parent
};

// How the search as a whole is doing.
struct Progress {
  double spread = 0;   // standard deviation of the rewards that passed
  int since_best = 0;  // results told since the best reward last rose by more than noise
  double left = 0.5;   // share of the run's evaluations that is left; 0.5 where it is not known
};

// How much a step down the tree promises: what was seen, and what was not seen enough.
struct Score {
  double value = 0;
  double exploration = 0;
  [[nodiscard]] double total() const { return value + exploration; }
};

class MctsRules {
 public:
  MctsRules() = default;
  MctsRules(const MctsRules&) = delete;
  MctsRules& operator=(const MctsRules&) = delete;
  virtual ~MctsRules() = default;

  // What Score::value is, for people.
  [[nodiscard]] virtual const char* value_name() const = 0;
  // Nothing: a failure says nothing about the branches it lies in.
  [[nodiscard]] virtual std::optional<double> failure_reward(Outcome outcome) const = 0;
  // How much going to `child` promises.
  [[nodiscard]] virtual Score child(const Branch& parent, const Branch& child,
                                    const Progress& progress) const = 0;
  // The same for the child `node` could get next.
  [[nodiscard]] virtual Score next_child(const Branch& node, const Progress& progress) const = 0;
  // While it has fewer children than this, `node` may get another.
  [[nodiscard]] virtual int width(const Branch& node) const = 0;
  // What a log speed-up is worth that may be off by `noise`.
  [[nodiscard]] virtual double net(double reward, double /*noise*/) const { return reward; }
  // Whether the branch is to be given up.
  [[nodiscard]] virtual bool dead_end(const Branch& node) const = 0;
};

[[nodiscard]] std::unique_ptr<MctsRules> paper_rules();
[[nodiscard]] std::unique_ptr<MctsRules> steady_rules();

// Chosen on the tuning splits of bench/search/README.md.
struct DefaultSettings {
  double share_of_best = 0.9;  // of a branch's value, the rest is its mean
  double early = 1.4;          // exploration, in spreads of rewards, at the beginning of a run
  double late = 0.2;           // and at its end
  double own = 0.5;            // share of a node's own reward in what its next child promises
  double width = 1.4;          // children at first; more with the root of visits
  double repair = 0.5;         // spreads that a failure lies below its parent
  int patience = 10;           // results without a gain, after which two of three turns
  double restless = 6;         // explore so many times as much
  double outlook = 0.8;        // spreads that an outlook e times as good is worth
  double kind = 0.4;           // spreads that it is worth that something else holds a node up
};
[[nodiscard]] std::unique_ptr<MctsRules> default_rules(const DefaultSettings& settings = {});

}  // namespace kernelpro
