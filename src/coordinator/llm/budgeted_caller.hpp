// The calls of one run: each within the budgets, kept before it is made and after, tried again
// where that can help, and never made twice.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/llm.hpp"
#include "coordinator/llm/budget.hpp"
#include "coordinator/llm/call_ledger.hpp"
#include "coordinator/llm/caller.hpp"
#include "coordinator/llm/chat.hpp"

namespace kernelpro {

// Whom a role asks.
struct RoleChat {
  std::shared_ptr<Chat> chat;
  std::string model;
};

struct CallerOptions {
  int in_flight = 32;  // calls at a time; others wait
  // Seconds to wait after so many tries; nothing: give up. Empty: that of retry.hpp.
  std::function<std::optional<double>(int tries, const ChatFailure& failure)> retry_wait;
};

class BudgetedCaller : public Caller {
 public:
  // Takes up what the journal has: what was spent and what is still set apart count. An error where
  // there is a budget of money and a model without a price. `journal` must outlive this.
  [[nodiscard]] static Result<std::unique_ptr<BudgetedCaller>> create(
      std::map<LlmRole, RoleChat> chats, CallJournal& journal, const LlmSettings& settings,
      CallerOptions options = {});

  // Puts the role's model into the request, and the role's temperature where it has none. What is
  // set apart for others in flight is waited for before the budget is called spent.
  [[nodiscard]] Result<Called> call(const CallName& name, ChatRequest request,
                                    std::stop_token stop) override;
  [[nodiscard]] std::optional<std::int64_t> tokens_left() const override;
  // In billionths of a dollar; none: no budget.
  [[nodiscard]] std::optional<std::int64_t> money_left() const {
    return ledger_.budget().money_left();
  }
  // Spent and set apart.
  [[nodiscard]] Charge taken() const { return ledger_.budget().taken(); }

  // Calls that were kept or recorded with another request, as another version of the prompts
  // rendered it; the kept answer counts.
  [[nodiscard]] std::int64_t differing() const;

  // What there is to tell of batches: which answers are errors.
  [[nodiscard]] std::vector<std::string> remarks() const;

  // Of every chat: what waits for an answer is handed out.
  [[nodiscard]] Status hand_out();

 private:
  // One call() at work.
  struct Work {
    LedgerEntry& entry;
    RoleChat role;
    std::optional<Price> price;
    ChatRequest request;
    std::stop_token stop;
    bool resumed = false;  // its reservation is one of an earlier process
    // The request that waits in a batch, with the settings that are wanted now; empty: as it is.
    std::string renewed;
  };

  BudgetedCaller(std::map<LlmRole, RoleChat> chats, CallJournal& journal, LlmSettings settings,
                 CallerOptions options);

  [[nodiscard]] std::set<Chat*> chats() const;
  [[nodiscard]] ChatRequest completed(ChatRequest request, const RoleChat& role,
                                      LlmRole name) const;
  void note_request(Work& work, const std::string& body);
  [[nodiscard]] Result<Called> make(Work& work);
  [[nodiscard]] Usage worst_of(const Work& work) const;
  [[nodiscard]] Result<Called> not_yet(Work& work);

  [[nodiscard]] Result<Called> answered(Work& work, const ChatAnswer& answer,
                                        std::int64_t latency_ns);
  // Nothing: try again.
  [[nodiscard]] Result<std::optional<Called>> failed(Work& work, const ChatFailure& failure,
                                                     int tries);
  [[nodiscard]] std::optional<double> wait_after(int tries, const ChatFailure& failure) const;

  const std::map<LlmRole, RoleChat> chats_;
  const LlmSettings settings_;
  const CallerOptions options_;
  CallLedger ledger_;
  std::atomic<std::int64_t> differing_ = 0;
};

}  // namespace kernelpro
