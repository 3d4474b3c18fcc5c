// The tunables of nodes, swept by a tuner: one expansion of the search, and as many nodes as
// programs are judged for it.
//
// A sweep is a function of the events of its run. When a run is taken up, they are told again, and
// it goes on as it would have.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/run.hpp"
#include "coordinator/search/search.hpp"
#include "coordinator/tune/tuner.hpp"

namespace kernelpro {

class Sweeps {
 public:
  // The run must outlive it.
  explicit Sweeps(const Run& run) : run_(run) {}

  // Begins to sweep a node that has passed; `candidate` is its own, `move` what it is done by.
  [[nodiscard]] Status open(const Node& node, const Candidate& candidate, const std::string& move);
  [[nodiscard]] bool is_open(NodeId node) const { return sweeps_.contains(node); }

  // The node whose sweep goes on, and why; nothing: the search is to be asked.
  [[nodiscard]] std::optional<Choice> next() const;

  // The next program of that sweep, for the node that is about to be born. Nothing: there is none
  // left, and the sweep has ended.
  [[nodiscard]] Result<std::optional<Proposal>> propose(NodeId swept, NodeId fresh);

  // In a run that is taken up: that node was born, and this is its source.
  [[nodiscard]] Status born_again(const Node& node, const std::string& source);

  // What became of a node; of a duplicate, `judged` is the one that it is the same as. How much it
  // gained over the best of its sweep; nothing where it is of none.
  struct Credit {
    bool first = false;  // the first result of its sweep
    double log_gain = 0;
  };
  [[nodiscard]] std::optional<Credit> ended(const Node& node, const Node& judged);

 private:
  struct Sweep {
    Sweep(TuneSpace of, Candidate swept, std::uint64_t seed, std::size_t first_draws)
        : space(std::move(of)), candidate(std::move(swept)), tuner(space, seed, first_draws) {}

    const TuneSpace space;
    const Candidate candidate;
    Tuner tuner;
    std::optional<Code> hint;  // the best of a related sweep, to be tried first
    std::string move;
    std::map<NodeId, Code> codes;
    Code best_code = 0;
    double best = 0;  // log speed-up
    int born = 0;     // programs
    int results = 0;
    int in_vain = 0;  // results since the last gain
    bool exhausted = false;
  };
  [[nodiscard]] bool goes_on(const Sweep& sweep) const;
  // The best values of the last sweep over the same parameters.
  [[nodiscard]] std::optional<Code> related_best(const TuneSpace& space) const;

  const Run& run_;
  std::map<NodeId, std::unique_ptr<Sweep>> sweeps_;  // by the node that is swept
  std::map<NodeId, NodeId> swept_of_;                // by the nodes that were made for it
};

}  // namespace kernelpro
