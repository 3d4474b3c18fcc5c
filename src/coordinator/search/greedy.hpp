// Expands the best node there is.
#pragma once

#include <set>
#include <tuple>

#include "coordinator/search/tree.hpp"

namespace kernelpro {

class Greedy : public Search {
 public:
  void begin(NodeId child, NodeId parent) override;
  void tell(const SearchResult& result) override;
  void close(NodeId node, const std::string& reason) override;
  [[nodiscard]] std::vector<std::string> explain(NodeId node) const override;

 private:
  [[nodiscard]] std::optional<Choice> do_ask(std::int64_t left) override;

  // Smaller is better: how far from a sound result, then slower, then younger.
  using Rank = std::tuple<int, double, Index>;
  [[nodiscard]] Rank rank_of(Index index) const;

  Tree tree_;
  std::set<Rank> open_;
  std::optional<Rank> best_;  // open or not
};

}  // namespace kernelpro
