// Which node to expand next: one ask/tell interface for every way to search.
//
// A search knows nodes by number, their parents and their results; it never sees sources. It is a
// pure function of its seed and of the calls made to it, in their order: told the same things, it
// asks for the same things. That is how a run is resumed: its events are told again.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/node.hpp"

namespace kernelpro {

struct Choice {
  NodeId parent = root_node;         // whose child is to be proposed
  std::vector<std::string> reasons;  // for people, one step down the tree a line
};

struct SearchResult {
  NodeId node = root_node;
  Outcome outcome = Outcome::not_judged;  // not_judged costs nothing and teaches nothing
  double speedup = 0;                     // over the baseline, when passed
  bool eligible = true;                   // false: suspect or of lower precision, never the best
  // What is not known is as it stands here; a search may do without.
  double noise = 0;     // of the logarithm of the speed-up: how far the truth may lie from it
  double promised = 0;  // log gain over its parent that its proposal predicted
  // Log gain that the next child of it may have: by what its diagnosis found, by moves that apply,
  // by what memory has of either. This is where priors of moves come in.
  double outlook = 0;
  int kind = 0;  // what holds it up, by its diagnosis; 0: unknown
};

// How many evaluations a run may still make, those in flight not among them.
inline constexpr std::int64_t unknown_budget = -1;

class Search {
 public:
  Search() = default;
  Search(const Search&) = delete;
  Search& operator=(const Search&) = delete;
  virtual ~Search() = default;

  // Whose child to propose next; nothing when every branch is closed or waits for a result.
  [[nodiscard]] std::optional<Choice> ask(std::int64_t left = unknown_budget) {
    return do_ask(left);
  }
  // `child` of `parent` is being tried; until its result is told it is not chosen itself. The root
  // is born first, with parent no_node.
  virtual void begin(NodeId child, NodeId parent) = 0;
  virtual void tell(const SearchResult& result) = 0;
  // There is nothing (left) to propose under `node`.
  virtual void close(NodeId node, const std::string& reason) = 0;
  // What the search knows of a node: visits, value, whether its branch is open and why not.
  [[nodiscard]] virtual std::vector<std::string> explain(NodeId node) const = 0;

 private:
  [[nodiscard]] virtual std::optional<Choice> do_ask(std::int64_t left) = 0;
};

// `horizon`, `mcts` (presets `default`, `steady` and `paper`), `greedy`, `beam`, `elites`,
// `random`. An unknown name or preset is an error that lists the known ones.
[[nodiscard]] Result<std::unique_ptr<Search>> make_search(const std::string& name,
                                                          const std::string& preset,
                                                          std::uint64_t seed);

}  // namespace kernelpro
