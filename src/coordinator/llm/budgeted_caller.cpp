#include "coordinator/llm/budgeted_caller.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/base/clock.hpp"
#include "common/base/date.hpp"
#include "common/base/random.hpp"
#include "common/wire/json.hpp"
#include "coordinator/llm/batch_body.hpp"
#include "coordinator/llm/chat_json.hpp"
#include "coordinator/llm/prompt_cost.hpp"
#include "coordinator/llm/provider.hpp"
#include "coordinator/llm/retry.hpp"

namespace kernelpro {
namespace {

// Whether a call goes on where an earlier process left it. A call of the others was cut with that
// process, and may have cost what was set apart for it.
bool outlives_process(const std::string& name) {
  const Provider* const provider = find_provider(name);
  return provider != nullptr && provider->outlives_process;
}

bool is_handed_out(const std::string& name) {
  const Provider* const provider = find_provider(name);
  return provider != nullptr && provider->handed_out;
}

Usage at_most(const Usage& usage, const Usage& bound) {
  return {.input = std::min(usage.input, bound.input),
          .cached = std::min(usage.cached, bound.input),
          .cache_written = 0,
          .output = std::min(usage.output, bound.output)};
}

Called spent(std::string reason) {
  return {.kind = Called::Kind::spent, .answer = {}, .reason = std::move(reason)};
}

// What the kept call says, without asking.
Result<Called> kept_outcome(const LlmCall& call) {
  if (call.state == CallState::failed) {
    return Called{.kind = Called::Kind::failed, .answer = {}, .reason = call.failure};
  }
  const Result<nlohmann::json> parsed = parse_json(call.answer);
  Result<ChatAnswer> answer = parsed ? chat_answer_from_json(*parsed) : parsed.error();
  if (!answer) {
    return make_error(ErrorKind::io, "the kept answer cannot be read: " + answer.error().text(),
                      "call " + call.id);
  }
  return Called{.kind = Called::Kind::answered, .answer = std::move(*answer), .reason = {}};
}

}  // namespace

Result<std::unique_ptr<BudgetedCaller>> BudgetedCaller::create(std::map<LlmRole, RoleChat> chats,
                                                               CallJournal& journal,
                                                               const LlmSettings& settings,
                                                               CallerOptions options) {
  std::unique_ptr<BudgetedCaller> caller(
      new BudgetedCaller(std::move(chats), journal, settings, std::move(options)));
  for (const auto& [name, role] : caller->chats_) {
    KP_TRY(caller->ledger_.budget().check_price(find_price(settings, role.model), role.model));
  }
  KP_TRY(caller->ledger_.take_up(settings));
  return caller;
}

BudgetedCaller::BudgetedCaller(std::map<LlmRole, RoleChat> chats, CallJournal& journal,
                               LlmSettings settings, CallerOptions options)
    : chats_(std::move(chats)),
      settings_(std::move(settings)),
      options_(std::move(options)),
      ledger_(journal, settings_, options_.in_flight) {}

std::optional<std::int64_t> BudgetedCaller::tokens_left() const {
  return ledger_.budget().tokens_left();
}

// Roles may share one.
std::set<Chat*> BudgetedCaller::chats() const {
  std::set<Chat*> chats;
  for (const auto& [name, role] : chats_) {
    chats.insert(role.chat.get());
  }
  return chats;
}

std::int64_t BudgetedCaller::differing() const {
  std::int64_t recorded = 0;
  for (const Chat* const chat : chats()) {
    recorded += chat->differing();
  }
  return differing_ + recorded;
}

std::vector<std::string> BudgetedCaller::remarks() const {
  std::vector<std::string> texts;
  for (Chat* const chat : chats()) {
    const std::vector<std::string> more = chat->remarks();
    texts.insert(texts.end(), more.begin(), more.end());
  }
  return texts;
}

Status BudgetedCaller::hand_out() {
  for (Chat* const chat : chats()) {
    KP_TRY(chat->hand_out());
  }
  return {};
}

ChatRequest BudgetedCaller::completed(ChatRequest request, const RoleChat& role,
                                      LlmRole name) const {
  request.model = role.model;
  const auto own = settings_.roles.find(name);
  if (!request.temperature && own != settings_.roles.end()) {
    request.temperature = own->second.temperature;
  }
  return request;
}

Result<Called> BudgetedCaller::call(const CallName& name, ChatRequest request,
                                    std::stop_token stop) {
  const auto role = chats_.find(name.role);
  if (role == chats_.end()) {
    return make_error(ErrorKind::internal,
                      fmt::format("no model is known for the {}", name_of(name.role)));
  }
  KP_LET(LedgerEntry * entry, ledger_.begin(name, stop));
  Work work{.entry = *entry,
            .role = role->second,
            .price = find_price(settings_, role->second.model),
            .request = completed(std::move(request), role->second, name.role),
            .stop = std::move(stop),
            .renewed = {}};
  note_request(work, work.role.chat->body(work.request));
  Result<Called> called =
      work.entry.call.state == CallState::waiting ? make(work) : kept_outcome(work.entry.call);
  ledger_.end(work.entry);
  return called;
}

// A request that was handed out asks what it asked: that is what gets the answer.
void BudgetedCaller::note_request(Work& work, const std::string& body) {
  LedgerEntry& entry = work.entry;
  const std::string hash = prompt_hash(body);
  const std::string provider = work.role.chat->provider();
  const std::string former = entry.call.provider;
  const bool waits = entry.call.state == CallState::waiting;
  const bool same = !entry.request_hash.empty() && former == provider;
  const bool goes_on = waits && same && outlives_process(provider);
  if (same && (goes_on || !waits) && hash != entry.request_hash) {
    ++differing_;
  }
  if (!waits) {
    return;
  }
  work.resumed = goes_on && entry.call.reserved != Usage{};
  if (goes_on && is_handed_out(provider)) {
    std::string now = with_settings_of(entry.call.request, body);
    work.renewed = now == entry.call.request ? "" : std::move(now);
  }
  if (!goes_on) {
    entry.call.request = body;
    entry.request_hash = hash;
    entry.call.provider = provider;
    entry.call.model = work.request.model;
    entry.call.started = utc_now();
  }
  if (work.resumed || entry.call.reserved == Usage{}) {
    return;
  }
  if (!outlives_process(former)) {
    // Cut with an earlier process.
    count_as_spent(entry);
  }
  // Of those that were handed out and are asked elsewhere now, what stands is given back then.
  entry.call.reserved = {};
}

Result<Called> BudgetedCaller::make(Work& work) {
  LedgerEntry& entry = work.entry;
  for (int tries = 1;; ++tries) {
    KP_LET(const std::string refusal,
           ledger_.reserve(entry, worst_of(work), work.price, work.request.model, work.stop));
    if (!refusal.empty()) {
      return spent(refusal);
    }
    if (const Status kept = ledger_.keep(entry); !kept) {
      ledger_.pause();
      return kept.error();
    }
    const std::int64_t start = now_ns();
    const Chat::Tried tried = work.role.chat->try_once(entry.call.id, work.request, {}, work.stop);
    if (tried.failure) {
      KP_LET(std::optional<Called> ended, failed(work, *tried.failure, tries));
      if (ended) {
        return std::move(*ended);
      }
    } else if (tried.reply.answer) {
      return answered(work, *tried.reply.answer, now_ns() - start);
    } else {
      return not_yet(work);
    }
  }
}

Result<Called> BudgetedCaller::not_yet(Work& work) {
  Status kept;
  if (!work.renewed.empty()) {
    work.entry.call.request = std::exchange(work.renewed, {});
    work.entry.call.model = work.request.model;
    kept = ledger_.keep(work.entry);
  }
  ledger_.pause();
  return kept ? Result<Called>(Called{.kind = Called::Kind::not_yet, .answer = {}, .reason = {}})
              : kept.error();
}

Usage BudgetedCaller::worst_of(const Work& work) const {
  const Usage& reserved = work.entry.call.reserved;
  if (work.resumed && work.renewed.empty()) {
    return reserved;
  }
  const Usage worst = prompt_cost(work.request, settings_).worst;
  // Until the folder is read, the answer may be one to either.
  return work.resumed ? Usage{.input = std::max(worst.input, reserved.input),
                              .cached = 0,
                              .cache_written = 0,
                              .output = std::max(worst.output, reserved.output)}
                      : worst;
}

Result<Called> BudgetedCaller::answered(Work& work, const ChatAnswer& answer,
                                        std::int64_t latency_ns) {
  LlmCall& call = work.entry.call;
  call.state = CallState::answered;
  call.answer = to_json(answer).dump();
  call.answered_by = answer.model;
  // How long a batch took, no process has seen.
  call.latency_ns = is_handed_out(call.provider) ? 0 : latency_ns;
  if (answer.usage_known) {
    const Usage usage = plausible(answer.usage);
    KP_TRY(ledger_.settle(work.entry, charge_of(usage, work.price), usage));
  } else if (outlives_process(call.provider)) {
    const Usage estimate = at_most(plausible(answer.usage), call.reserved);
    KP_TRY(ledger_.settle(work.entry, charge_of(estimate, work.price), estimate));
  } else {
    KP_TRY(ledger_.settle(work.entry, work.entry.standing, call.reserved));
  }
  // Not `answer` itself: what is read back when the run is taken up must be the same.
  return kept_outcome(call);
}

Result<std::optional<Called>> BudgetedCaller::failed(Work& work, const ChatFailure& failure,
                                                     int tries) {
  LlmCall& call = work.entry.call;
  if (work.resumed && failure.for_all) {
    // It is still handed out.
    ledger_.pause();
    return failure.error;
  }
  const bool stopped = work.stop.stop_requested() || failure.error.kind == ErrorKind::interrupted;
  const std::optional<double> wait = stopped ? std::nullopt : wait_after(tries, failure);
  // Whoever is overloaded or away now may be back when the run is taken up.
  const bool later = failure.for_all || failure.away || (failure.retriable && !failure.may_cost);
  if (!stopped && !wait && !later) {
    call.state = CallState::failed;
    call.failure = failure.error.text();
  }
  const Usage reserved = std::exchange(call.reserved, {});
  work.resumed = false;
  KP_TRY(failure.may_cost ? ledger_.settle(work.entry, work.entry.standing, reserved)
                          : ledger_.settle(work.entry, {}, {}));
  if (wait) {
    return wait_or_stop(*wait, work.stop) ? Result<std::optional<Called>>(std::optional<Called>())
                                          : call_interrupted(call.id);
  }
  if (call.state == CallState::failed) {
    return std::optional(
        Called{.kind = Called::Kind::failed, .answer = {}, .reason = call.failure});
  }
  return stopped ? call_interrupted(call.id) : failure.error;
}

std::optional<double> BudgetedCaller::wait_after(int tries, const ChatFailure& failure) const {
  return options_.retry_wait ? options_.retry_wait(tries, failure)
                             : retry_wait(tries, failure, Random(secret_seed()).unit());
}

}  // namespace kernelpro
