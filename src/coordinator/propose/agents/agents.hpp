// The agents: a parent and all that is known become a proposal, by asking models.
//
//   parent passed:  planner ──▶ coder ──▶ (reviewer) ──▶ proposal
//   parent failed:  fixer ──▶ (reviewer) ──▶ proposal
//
// A pure function of the order and of the answers: asked again after a stop, the agents come to the
// same calls, whose kept answers they get.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/ceilings.hpp"
#include "common/model/certificate.hpp"
#include "common/model/node.hpp"
#include "common/model/run.hpp"
#include "coordinator/llm/caller.hpp"
#include "coordinator/propose/move.hpp"

namespace kernelpro {

// What was tried before, as the agents see it.
struct Tried {
  Node node;
  std::optional<Verdict> verdict;  // with its evidence; none: duplicate, unwritten, not judged
};

// All that one proposal is made from. Values only: prompts are a function of it.
struct AgentOrder {
  NodeId node = root_node;   // the node that the proposal will be
  const Run* run = nullptr;  // task, settings
  MachineRecord machine;     // what it is judged on
  Ceilings ceilings;         // measured there
  Candidate parent;          // its source
  Tried parent_tried;
  std::vector<Tried> branch;    // from the root to the parent's parent
  std::vector<Tried> siblings;  // ended children of the parent, by id
  std::vector<Tried> all;       // every ended node, by id: the memory is made of it
  std::vector<Move> moves;      // that fit backend and parent
  double best_speedup = 1;
  std::int64_t evaluations_left = 0;
};

struct Proposed {
  enum class Kind {
    candidate,
    not_yet,  // a model answers later
    nothing,  // no candidate came of it: `reason`
    spent,    // the budget for models is spent: `reason`
  };
  Kind kind = Kind::candidate;
  Proposal proposal;
  std::string reason;
};

// What one call would send, for people.
struct PromptPreview {
  LlmRole role = LlmRole::planner;
  ChatRequest request;
};

class Agents {
 public:
  // Reads the prompt files; errors name file and line.
  [[nodiscard]] static Result<Agents> load(const LlmSettings& settings,
                                           const std::filesystem::path& prompts);

  // Safe to be called by several threads at once, for different nodes.
  [[nodiscard]] Result<Proposed> propose(const AgentOrder& order, Caller& caller,
                                         std::stop_token stop) const;
  // The first call that `propose` would make.
  [[nodiscard]] Result<PromptPreview> preview(const AgentOrder& order) const;

 private:
  struct Prompt;  // one file
  explicit Agents(LlmSettings settings) : settings_(std::move(settings)) {}
  LlmSettings settings_;
  std::map<LlmRole, std::string> prompts_;
};

}  // namespace kernelpro
