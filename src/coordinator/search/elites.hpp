// MAP-Elites: keeps the best program of each kind, and expands any of these.
//
// A program's kind is what holds it up by its diagnosis, and how many steps from the baseline it
// is. So a slower program that is unlike the best is not forgotten.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "coordinator/search/tree.hpp"

namespace kernelpro {

class Elites : public Search {
 public:
  explicit Elites(std::uint64_t seed) : seed_(seed) {}
  void begin(NodeId child, NodeId parent) override;
  void tell(const SearchResult& result) override;
  void close(NodeId node, const std::string& reason) override;
  [[nodiscard]] std::vector<std::string> explain(NodeId node) const override;

 private:
  using Cell = std::pair<int, std::size_t>;  // what holds it up, steps from the root
  [[nodiscard]] std::optional<Choice> do_ask(std::int64_t left) override;
  [[nodiscard]] bool slower(Index one, Index other) const;
  // The fastest that can be expanded becomes the elite of its cell.
  void elect(const Cell& cell);

  std::uint64_t seed_;
  Tree tree_;
  std::vector<Cell> cells_of_;  // by Index
  std::map<Cell, std::vector<Index>> members_;
  std::map<Cell, Index> elites_;
};

}  // namespace kernelpro
