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

namespace kernelpro {

// What there is for a child of a node.
struct ChildOffer {
  enum class Kind {
    candidate,  // the playbook has one
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
  const MoveRecords& records;
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

 private:
  [[nodiscard]] Result<ChildOffer> playbook_offer(NodeId parent, const Standing& standing,
                                                  std::stop_token stop);
  [[nodiscard]] Result<Prospects*> prospects_of(NodeId id, const std::vector<Node>& nodes);
  [[nodiscard]] Result<Parent> parent_of(NodeId id, const std::vector<Node>& nodes) const;
  [[nodiscard]] Result<Tried> tried(const Node& node);
  [[nodiscard]] Status add_history(AgentOrder& order, const Node& child,
                                   const std::vector<Node>& nodes);

  const Run& run_;
  const Playbook& playbook_;
  Journal& journal_;
  Author* author_;
  ProspectCache cache_;
  // Of what has ended, as far as it was asked for.
  std::map<NodeId, std::optional<Verdict>> verdicts_;
  std::map<NodeId, std::vector<KernelResources>> kernels_;
};

}  // namespace kernelpro
