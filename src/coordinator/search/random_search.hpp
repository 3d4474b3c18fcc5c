// Expands any node that passed, each as likely as the next: what a search must beat.
#pragma once

#include <unordered_map>

#include "coordinator/search/tree.hpp"

namespace kernelpro {

class RandomSearch : public Search {
 public:
  explicit RandomSearch(std::uint64_t seed) : seed_(seed) {}
  void begin(NodeId child, NodeId parent) override;
  void tell(const SearchResult& result) override;
  void close(NodeId node, const std::string& reason) override;
  [[nodiscard]] std::vector<std::string> explain(NodeId node) const override;

 private:
  [[nodiscard]] std::optional<Choice> do_ask(std::int64_t left) override;

  std::uint64_t seed_;
  Tree tree_;
  std::vector<Index> open_;
  std::unordered_map<Index, std::size_t> places_;  // of open nodes in open_
};

}  // namespace kernelpro
