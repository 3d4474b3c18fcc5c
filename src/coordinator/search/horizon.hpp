// Expands the node from which what is left of the budget leads furthest: its speed, and what so
// many tries are expected to gain there. With much left that is a slow node that still gains, with
// little left a fast one.
//
// What tries under a node gained says what the next will gain. Before there are many: less the
// further down, but as much as at the root again where something else holds a node up; more where
// its diagnosis foresees more; less under a node that gave less than was expected of it.
//
// What fails says nothing of the node that it was made of, and is repaired once nothing else is
// left there.
#pragma once

#include <vector>

#include "coordinator/search/tree.hpp"

namespace kernelpro {

class Horizon : public Search {
 public:
  void begin(NodeId child, NodeId parent) override;
  void tell(const SearchResult& result) override;
  void close(NodeId node, const std::string& reason) override;
  [[nodiscard]] std::vector<std::string> explain(NodeId node) const override;

 private:
  [[nodiscard]] std::optional<Choice> do_ask(std::int64_t left) override;

  struct Node {
    Index source = no_index;  // the nearest above that passed, or the root
    double reward = 0;        // log speed-up net of noise
    int steps = 0;            // from the root, or from where something else began to hold it up
    int kind = 0;
    double outlook = 0;           // logarithm of what its diagnosis foresees
    double inherited = 1;         // share of what was expected that its source gave, at most 1
    int proposals = 0;            // children judged or in flight
    int in_flight = 0;            // tries awaited, repairs among them
    int tries = 0;                // that passed, repairs among them
    double gained = 0;            // by all of them together
    std::vector<Index> failures;  // of tries, not being repaired, the oldest first
  };
  // What is asked of every node at every step, kept small: the gain expected of a try is
  // level() * share + seen.
  struct Outset {
    bool open = false;
    double reward = 0;
    double share = 0;
    double seen = 0;
  };
  [[nodiscard]] double level() const;
  [[nodiscard]] static double share_of(const Node& node);
  [[nodiscard]] double expected(Index index) const;
  [[nodiscard]] double fulfilled(const Node& source) const;
  [[nodiscard]] Choice choice(Index index, double reach) const;
  [[nodiscard]] std::optional<Choice> last_resort() const;
  // Of a result that is no repetition and not the root's.
  void take(Index index, const SearchResult& result);
  void take_diagnosis(Node& node, const SearchResult& result);
  // Unless it passed, is closed or was repaired before.
  void offer_repair(Index index);
  void refresh(Index index);

  Tree tree_;
  std::vector<Node> nodes_;      // by Index
  std::vector<Outset> outsets_;  // by Index; of failures never open
  bool diagnosed_ = false;       // whether anything told said what holds a node up
  int outlooks_ = 0;
  double mean_outlook_ = 0;
};

}  // namespace kernelpro
