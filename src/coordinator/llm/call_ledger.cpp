#include "coordinator/llm/call_ledger.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "coordinator/llm/batch_body.hpp"
#include "coordinator/llm/prompt_cost.hpp"

namespace kernelpro {
namespace {

Usage sum(const Usage& one, const Usage& other) {
  return {.input = one.input + other.input,
          .cached = one.cached + other.cached,
          .cache_written = one.cache_written + other.cache_written,
          .output = one.output + other.output};
}

// Without a price, as tokens have none of their own.
std::int64_t tokens_of(const Usage& usage) {
  return charge_of(usage, std::nullopt).tokens;
}

}  // namespace

Error call_interrupted(const std::string& id) {
  return make_error(ErrorKind::interrupted, "asked to stop", "call " + id);
}

void count_as_spent(LedgerEntry& entry) {
  entry.call.usage = sum(entry.call.usage, entry.call.reserved);
  entry.standing = {};
}

CallLedger::CallLedger(CallJournal& journal, const LlmSettings& settings, int in_flight)
    : journal_(journal),
      most_in_flight_(std::max(in_flight, 1)),
      budget_(settings.token_budget, settings.money_budget) {}

Status CallLedger::take_up(const LlmSettings& settings) {
  KP_LET(std::vector<LlmCall> calls, journal_.all());
  for (LlmCall& call : calls) {
    Charge all{.tokens = tokens_of(call.usage), .cost = call.cost};
    LedgerEntry entry;
    entry.request_hash = prompt_hash(call.request);
    if (call.state == CallState::waiting) {
      const std::optional<Price> price = find_price(settings, call.model);
      entry.standing.tokens = tokens_of(call.reserved);
      // What it costs beyond that is of earlier tries.
      entry.standing.cost = std::min(call.cost, worst_charge(call.reserved, price).cost);
      all.tokens += entry.standing.tokens;
    } else {
      call.request.clear();
    }
    budget_.take_up(all);
    entry.call = std::move(call);
    std::string id = entry.call.id;
    entries_.insert_or_assign(std::move(id), std::move(entry));
  }
  return {};
}

Result<LedgerEntry*> CallLedger::begin(const CallName& name, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  LedgerEntry& entry = entries_[name.id()];
  const bool free =
      changed_.wait(lock, stop, [&] { return !entry.busy && in_flight_ < most_in_flight_; });
  if (!free) {
    return call_interrupted(name.id());
  }
  if (entry.call.id.empty()) {
    entry.call.id = name.id();
    entry.call.node = name.node;
    entry.call.role = name.role;
    entry.call.turn = name.turn;
  }
  entry.busy = true;
  ++in_flight_;
  return &entry;
}

void CallLedger::end(LedgerEntry& entry) {
  const std::lock_guard lock(mutex_);
  entry.busy = false;
  --in_flight_;
  if (entry.call.state != CallState::waiting) {
    entry.call.request.clear();
  }
  changed_.notify_all();
}

Result<std::string> CallLedger::reserve(LedgerEntry& entry, const Usage& worst,
                                        const std::optional<Price>& price, const std::string& model,
                                        const std::stop_token& stop) {
  LlmCall& call = entry.call;
  std::unique_lock lock(mutex_);
  while (true) {
    const std::int64_t seen = settled_;
    KP_LET(Budget::Reservation reservation, budget_.reserve(worst, price, model, entry.standing));
    if (reservation.granted()) {
      call.reserved = worst;
      call.cost += reservation.worst.cost - entry.standing.cost;
      call.priced = price.has_value();
      entry.standing = reservation.worst;
      ++asking_;
      return std::string();
    }
    if (asking_ == 0) {
      return std::move(reservation.refusal);
    }
    if (!changed_.wait(lock, stop, [&] { return settled_ != seen; })) {
      return call_interrupted(call.id);
    }
  }
}

// First on the disk, then in the budget: a process that is killed in between, while another call
// takes what this one gave back, would leave more on the disk than there is.
Status CallLedger::settle(LedgerEntry& entry, Charge actual, const Usage& usage) {
  const Charge reserved = std::exchange(entry.standing, {});
  entry.call.usage = sum(entry.call.usage, usage);
  entry.call.cost += actual.cost - reserved.cost;
  const Status kept = journal_.keep(entry.call);
  if (kept) {
    budget_.settle(reserved, actual);
  }
  pause();
  return kept;
}

void CallLedger::pause() {
  const std::lock_guard lock(mutex_);
  --asking_;
  ++settled_;
  changed_.notify_all();
}

}  // namespace kernelpro
