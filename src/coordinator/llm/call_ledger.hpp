// What the calls of a run cost: set apart from the budgets while one is asked, and kept as it
// becomes known. Safe to be used by several threads at once.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

#include "common/base/result.hpp"
#include "common/model/llm.hpp"
#include "coordinator/llm/budget.hpp"
#include "coordinator/llm/caller.hpp"

namespace kernelpro {

// A call as it is kept, and what of the budget is set apart for it.
struct LedgerEntry {
  LlmCall call;              // without its request once it has ended
  std::string request_hash;  // of what that asks
  Charge standing;
  bool busy = false;  // a thread is at it
};

// What is set apart for it was spent, or may have been.
void count_as_spent(LedgerEntry& entry);

// The error where that call was asked to stop.
[[nodiscard]] Error call_interrupted(const std::string& id);

class CallLedger {
 public:
  // `journal` must outlive this. `in_flight`: calls at a time; others wait.
  CallLedger(CallJournal& journal, const LlmSettings& settings, int in_flight);

  // What the journal has: what was spent and what is still set apart count.
  [[nodiscard]] Status take_up(const LlmSettings& settings);

  // The entry, for this thread alone and with a place among those in flight.
  [[nodiscard]] Result<LedgerEntry*> begin(const CallName& name, const std::stop_token& stop);
  void end(LedgerEntry& entry);

  // Empty when it is set apart, else why not. What is set apart for others in flight is waited for
  // before.
  [[nodiscard]] Result<std::string> reserve(LedgerEntry& entry, const Usage& worst,
                                            const std::optional<Price>& price,
                                            const std::string& model, const std::stop_token& stop);
  [[nodiscard]] Status keep(const LedgerEntry& entry) { return journal_.keep(entry.call); }
  // Keeps the call as it is now and ends its reservation: it has cost `actual`, which is a copy
  // as it may be the reservation itself.
  [[nodiscard]] Status settle(LedgerEntry& entry, Charge actual, const Usage& usage);
  // Nothing is asked now; what is set apart stays so.
  void pause();

  [[nodiscard]] const Budget& budget() const { return budget_; }

 private:
  CallJournal& journal_;
  const int most_in_flight_;
  Budget budget_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::map<std::string, LedgerEntry> entries_;  // by the call's id
  int in_flight_ = 0;
  int asking_ = 0;            // of them, those with something set apart that will be settled
  std::int64_t settled_ = 0;  // how often that happened
};

}  // namespace kernelpro
