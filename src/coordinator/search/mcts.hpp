// Monte Carlo tree search over complete programs: every node is measured once, there are no
// roll-outs. From the root down, a step either gives the node another child or goes to the most
// promising branch under it.
#pragma once

#include <memory>
#include <utility>

#include "coordinator/search/mcts_rules.hpp"
#include "coordinator/search/tree.hpp"

namespace kernelpro {

class Mcts : public Search {
 public:
  explicit Mcts(std::unique_ptr<MctsRules> rules) : rules_(std::move(rules)) {}
  void begin(NodeId child, NodeId parent) override;
  void tell(const SearchResult& result) override;
  void close(NodeId node, const std::string& reason) override;
  [[nodiscard]] std::vector<std::string> explain(NodeId node) const override;

 private:
  [[nodiscard]] std::optional<Choice> do_ask(std::int64_t left) override;

  struct Step {
    Index index = no_index;  // no_index: there is no such branch
    Score score;
  };
  struct Decision {
    bool widen = false;  // otherwise on to the best branch
    std::string reason;
  };

  [[nodiscard]] Step best_child(Index parent) const;
  [[nodiscard]] Decision decide(Index at, const Step& best) const;
  [[nodiscard]] std::optional<double> reward_of(Index index) const;
  [[nodiscard]] std::string name(Index index) const;
  void count_in_flight(Index index, int change);
  void take_diagnosis(Index index, const SearchResult& result);
  void back_up(Index index);
  void learn(std::optional<double> reward);

  std::unique_ptr<MctsRules> rules_;
  Tree tree_;
  std::vector<Branch> branches_;  // by Index
  std::vector<int> kinds_;        // by Index: what holds nodes up
  std::vector<double> noise_;     // by Index
  int results_ = 0;
  int outlooks_ = 0;
  double mean_outlook_ = 0;  // of their logarithms
  Progress progress_;
  double best_reward_ = 0;
  // Running moments (Welford) of the rewards that passed.
  int rewards_ = 0;
  double mean_reward_ = 0;
  double squares_ = 0;
};

}  // namespace kernelpro
