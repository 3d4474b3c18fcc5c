// The agents: a parent and all that is known become a proposal, by asking models.
//
//   parent passed:  planner ──▶ coder ──▶ (reviewer) ──▶ proposal
//   parent failed:  fixer ──▶ (reviewer) ──▶ proposal
//
// A pure function of the order and of the answers: asked again after a stop, the agents come to the
// same calls, whose kept answers they get.
#pragma once

#include <filesystem>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/llm.hpp"
#include "common/model/node.hpp"
#include "coordinator/llm/caller.hpp"
#include "coordinator/propose/agents/code_library.hpp"
#include "coordinator/propose/agents/order.hpp"

namespace kernelpro {

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
  // What went wrong on the way and was asked again, given up or left to the judge, in its order:
  // "coder: truncated", "reviewer: objected: …". docs/agents.md lists the kinds.
  std::vector<std::string> mishaps;
  // Which code models were shown on the way: "cutlass/include/cute/layout.hpp:10-40".
  std::vector<std::string> learned;
};

// What one call would send, for people.
struct PromptPreview {
  LlmRole role = LlmRole::planner;
  ChatRequest request;  // without the model's name, which the caller knows
};

// The move of a proposal that repairs a failed parent, and of the first kernel for a PyTorch
// module.
inline constexpr const char* repair_move = "repair";
inline constexpr const char* first_kernel_move = "first_kernel";

namespace agents {
struct PromptSet;
}

class Agents {
 public:
  // Reads the prompt files: those of `settings.prompts` where it names a folder, each other one of
  // `installed`. Errors name file and line.
  // `code` is what models may learn from; nullptr: nothing.
  [[nodiscard]] static Result<Agents> load(const LlmSettings& settings,
                                           const std::filesystem::path& installed,
                                           std::shared_ptr<const CodeLibrary> code = nullptr);

  // Safe to be called by several threads at once, for different nodes.
  [[nodiscard]] Result<Proposed> propose(const AgentOrder& order, Caller& caller,
                                         std::stop_token stop) const;
  // The first call that `propose` would make.
  [[nodiscard]] Result<PromptPreview> preview(const AgentOrder& order) const;

 private:
  Agents(LlmSettings settings, std::shared_ptr<const agents::PromptSet> prompts,
         std::shared_ptr<const CodeLibrary> code)
      : settings_(std::move(settings)), prompts_(std::move(prompts)), code_(std::move(code)) {}

  LlmSettings settings_;
  std::shared_ptr<const agents::PromptSet> prompts_;
  std::shared_ptr<const CodeLibrary> code_;
};

}  // namespace kernelpro
