// The loop's author: the agents, with the models that a run is set to.
#pragma once

#include <memory>
#include <stop_token>

#include "coordinator/app/store_call_journal.hpp"
#include "coordinator/llm/budgeted_caller.hpp"
#include "coordinator/loop/partners.hpp"
#include "coordinator/propose/agents/agents.hpp"

namespace kernelpro {

class AgentAuthor : public Author {
 public:
  // Takes up the calls that the run has. Errors name what is wrong with models, prompts or prices,
  // before anything is spent.
  [[nodiscard]] static Result<std::unique_ptr<AgentAuthor>> open(const Store& store,
                                                                 const Run& run);

  [[nodiscard]] Result<Proposed> write(const AgentOrder& order, std::stop_token stop) override {
    return agents_.propose(order, *caller_, std::move(stop));
  }

  // Hands out what waits for an answer.
  [[nodiscard]] Status hand_out() { return caller_->hand_out(); }
  [[nodiscard]] const BudgetedCaller& caller() const { return *caller_; }

 private:
  AgentAuthor(Agents agents, std::unique_ptr<StoreCallJournal> journal,
              std::unique_ptr<BudgetedCaller> caller)
      : agents_(std::move(agents)), journal_(std::move(journal)), caller_(std::move(caller)) {}

  Agents agents_;
  std::unique_ptr<StoreCallJournal> journal_;
  std::unique_ptr<BudgetedCaller> caller_;
};

// What is wrong with models, keys, prices or prompts, before anything is done for the run.
[[nodiscard]] Status check_llm(const LlmSettings& settings);

// The agents of a run, with the prompt files that it is set to, and what they may learn from.
[[nodiscard]] Result<Agents> load_agents(const LlmSettings& settings,
                                         std::shared_ptr<const CodeLibrary> code = nullptr);

}  // namespace kernelpro
