// Works level by level: the best nodes of a level get a few children each, then the best of all
// these are next.
#pragma once

#include <vector>

#include "coordinator/search/tree.hpp"

namespace kernelpro {

class Beam : public Search {
 public:
  void begin(NodeId child, NodeId parent) override;
  void tell(const SearchResult& result) override;
  void close(NodeId node, const std::string& reason) override;
  [[nodiscard]] std::vector<std::string> explain(NodeId node) const override;

 private:
  [[nodiscard]] std::optional<Choice> do_ask(std::int64_t left) override;
  // The node of the beam with the fewest children, while it may have more.
  [[nodiscard]] std::optional<Index> next_in_beam() const;
  // The fastest open nodes of a level.
  [[nodiscard]] std::vector<Index> best_of(std::size_t level) const;
  // Whether a child of the beam is in flight.
  [[nodiscard]] bool waits_below() const;
  void advance();
  // From the top; false: nothing is open.
  bool begin_again();

  Tree tree_;
  std::vector<std::vector<Index>> levels_;  // nodes by their distance from the root
  std::vector<std::size_t> depths_;         // by Index
  std::vector<Index> beam_;
  std::size_t level_ = 0;     // of the beam
  std::size_t children_ = 0;  // that each of the beam may have by now
};

}  // namespace kernelpro
