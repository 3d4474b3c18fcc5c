// Who writes the next candidate: the playbook, or the agents.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "coordinator/loop/partners.hpp"
#include "coordinator/loop/prospect_cache.hpp"
#include "coordinator/memory/trust.hpp"

namespace kernelpro {

// What there is for a child of a node.
struct ChildOffer {
  enum class Kind {
    candidate,  // the playbook has one
    sweep,      // the tuner is to sweep its tunables
    agents,     // models are to be asked
    nothing,    // `reason` says why
  };
  Kind kind = Kind::nothing;
  Proposal proposal;
  std::string key;  // of its candidate
  std::string reason;
};

// What a run has come to, as far as proposals depend on it.
struct Standing {
  const std::vector<Node>& nodes;
  const Experience& experience;
  const std::set<std::string>& known_keys;
};

class Proposer {
 public:
  // All must outlive it. Without an author the playbook alone proposes; with one it takes turns at
  // candidates that it can improve for nothing, such as by another value of a tunable.
  Proposer(const Run& run, const Playbook& playbook, Journal& journal, Author* author)
      : run_(run), playbook_(playbook), journal_(journal), author_(author) {}

  [[nodiscard]] Result<ChildOffer> offer(NodeId parent, const Standing& standing,
                                         std::stop_token stop);

  // What `child`, chosen or thought of, is written from: what was known when it was chosen. It is
  // the same whenever a run is taken up.
  [[nodiscard]] Result<AgentOrder> order_for(const Node& child, const std::vector<Node>& nodes);

  [[nodiscard]] Result<Candidate> candidate_of(const Node& node) const;

  // What other runs have learned, for all that is proposed from now on.
  void recall(Recollection recollection) { recollection_ = std::move(recollection); }
  // What the tools predict of a node, as far as earlier findings of theirs came true.
  void correct(Diagnosis& diagnosis, const Certificate& certificate) const;
  // How far that is believed after one more node was judged.
  [[nodiscard]] double trust_after(const Node& node, const std::vector<Node>& nodes);

 private:
  [[nodiscard]] Result<ChildOffer> playbook_offer(NodeId parent, const Standing& standing,
                                                  std::stop_token stop);
  [[nodiscard]] Result<Prospects*> prospects_of(NodeId id, const std::vector<Node>& nodes);
  [[nodiscard]] Result<Parent> parent_of(NodeId id, const std::vector<Node>& nodes) const;
  [[nodiscard]] Result<Tried> tried(const Node& node);
  [[nodiscard]] Status add_history(AgentOrder& order, const Node& child,
                                   const std::vector<Node>& nodes);

  // What is expected of moves on one node, by lessons and by the files of moves.
  struct Outlook {
    MovePriors priors;
    std::map<std::string, double> promises;
    // nullptr: no file describes it.
    [[nodiscard]] const double* promise_of(const std::string& move) const {
      const auto found = promises.find(move);
      return found == promises.end() ? nullptr : &found->second;
    }
  };
  [[nodiscard]] Result<const Outlook*> outlook_of(NodeId id, const std::vector<Node>& nodes);

  const Run& run_;
  const Playbook& playbook_;
  Journal& journal_;
  Author* author_;
  ProspectCache cache_;
  // Of what has ended, as far as it was asked for.
  std::map<NodeId, std::optional<Verdict>> verdicts_;
  std::map<NodeId, BuildRecord> builds_;
  Recollection recollection_;
  std::map<NodeId, Outlook> outlooks_;
  memory::Trust trust_;
};

}  // namespace kernelpro
