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

Usage sum(const Usage& one, const Usage& other) {
  return {.input = one.input + other.input,
          .cached = one.cached + other.cached,
          .cache_written = one.cache_written + other.cache_written,
          .output = one.output + other.output};
}

Usage at_most(const Usage& usage, const Usage& bound) {
  return {.input = std::min(usage.input, bound.input),
          .cached = std::min(usage.cached, bound.input),
          .cache_written = 0,
          .output = std::min(usage.output, bound.output)};
}

// Without a price, as tokens have none of their own.
std::int64_t tokens_of(const Usage& usage) {
  return charge_of(usage, std::nullopt).tokens;
}

Error interrupted(const std::string& id) {
  return make_error(ErrorKind::interrupted, "asked to stop", "call " + id);
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
    KP_TRY(caller->budget_.check_price(find_price(settings, role.model), role.model));
  }
  KP_TRY(caller->take_up());
  return caller;
}

BudgetedCaller::BudgetedCaller(std::map<LlmRole, RoleChat> chats, CallJournal& journal,
                               LlmSettings settings, CallerOptions options)
    : chats_(std::move(chats)),
      journal_(journal),
      settings_(std::move(settings)),
      options_(std::move(options)),
      budget_(settings_.token_budget, settings_.money_budget) {}

Status BudgetedCaller::take_up() {
  KP_LET(std::vector<LlmCall> calls, journal_.all());
  for (LlmCall& call : calls) {
    Charge all{.tokens = tokens_of(call.usage), .cost = call.cost};
    Entry entry;
    entry.request_hash = prompt_hash(call.request);
    if (call.state == CallState::waiting) {
      const std::optional<Price> price = find_price(settings_, call.model);
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

std::optional<std::int64_t> BudgetedCaller::tokens_left() const {
  return budget_.tokens_left();
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
  const std::lock_guard lock(mutex_);
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

Result<BudgetedCaller::Entry*> BudgetedCaller::begin(const CallName& name,
                                                     const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  Entry& entry = entries_[name.id()];
  const bool free = changed_.wait(
      lock, stop, [&] { return !entry.busy && in_flight_ < std::max(options_.in_flight, 1); });
  if (!free) {
    return interrupted(name.id());
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

void BudgetedCaller::end(Entry& entry) {
  const std::lock_guard lock(mutex_);
  entry.busy = false;
  --in_flight_;
  if (entry.call.state != CallState::waiting) {
    entry.call.request.clear();
  }
  changed_.notify_all();
}

Result<Called> BudgetedCaller::call(const CallName& name, ChatRequest request,
                                    std::stop_token stop) {
  const auto role = chats_.find(name.role);
  if (role == chats_.end()) {
    return make_error(ErrorKind::internal,
                      fmt::format("no model is known for the {}", name_of(name.role)));
  }
  KP_LET(Entry * entry, begin(name, stop));
  Work work{.entry = *entry,
            .role = role->second,
            .price = find_price(settings_, role->second.model),
            .request = completed(std::move(request), role->second, name.role),
            .stop = std::move(stop),
            .renewed = {}};
  note_request(work, work.role.chat->body(work.request));
  Result<Called> called =
      work.entry.call.state == CallState::waiting ? make(work) : kept_outcome(work.entry.call);
  end(work.entry);
  return called;
}

// A request that was handed out asks what it asked: that is what gets the answer.
void BudgetedCaller::note_request(Work& work, const std::string& body) {
  Entry& entry = work.entry;
  const std::string hash = prompt_hash(body);
  const std::string provider = work.role.chat->provider();
  const std::string former = entry.call.provider;
  const bool waits = entry.call.state == CallState::waiting;
  const bool same = !entry.request_hash.empty() && former == provider;
  const bool goes_on = waits && same && outlives_process(provider);
  if (same && (goes_on || !waits) && hash != entry.request_hash) {
    const std::lock_guard lock(mutex_);
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
    entry.call.usage = sum(entry.call.usage, entry.call.reserved);
    entry.standing = {};
  }
  // Of those that were handed out and are asked elsewhere now, what stands is given back then.
  entry.call.reserved = {};
}

Result<Called> BudgetedCaller::make(Work& work) {
  Entry& entry = work.entry;
  for (int tries = 1;; ++tries) {
    KP_LET(const std::string refusal, reserve(work));
    if (!refusal.empty()) {
      return spent(refusal);
    }
    if (const Status kept = journal_.keep(entry.call); !kept) {
      pause();
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
    kept = journal_.keep(work.entry.call);
  }
  pause();
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

Result<std::string> BudgetedCaller::reserve(Work& work) {
  LlmCall& call = work.entry.call;
  const Usage worst = worst_of(work);
  std::unique_lock lock(mutex_);
  while (true) {
    const std::int64_t seen = settled_;
    KP_LET(Budget::Reservation reservation,
           budget_.reserve(worst, work.price, work.request.model, work.entry.standing));
    if (reservation.granted()) {
      call.reserved = worst;
      call.cost += reservation.worst.cost - work.entry.standing.cost;
      call.priced = work.price.has_value();
      work.entry.standing = reservation.worst;
      ++asking_;
      return std::string();
    }
    if (asking_ == 0) {
      return std::move(reservation.refusal);
    }
    if (!changed_.wait(lock, work.stop, [&] { return settled_ != seen; })) {
      return interrupted(call.id);
    }
  }
}

// First on the disk, then in the budget: a process that is killed in between, while another call
// takes what this one gave back, would leave more on the disk than there is.
Status BudgetedCaller::settle(Entry& entry, Charge actual, const Usage& usage) {
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

void BudgetedCaller::pause() {
  const std::lock_guard lock(mutex_);
  --asking_;
  ++settled_;
  changed_.notify_all();
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
    KP_TRY(settle(work.entry, charge_of(usage, work.price), usage));
  } else if (outlives_process(call.provider)) {
    const Usage estimate = at_most(plausible(answer.usage), call.reserved);
    KP_TRY(settle(work.entry, charge_of(estimate, work.price), estimate));
  } else {
    KP_TRY(settle(work.entry, work.entry.standing, call.reserved));
  }
  // Not `answer` itself: what is read back when the run is taken up must be the same.
  return kept_outcome(call);
}

Result<std::optional<Called>> BudgetedCaller::failed(Work& work, const ChatFailure& failure,
                                                     int tries) {
  LlmCall& call = work.entry.call;
  if (work.resumed && failure.for_all) {
    // It is still handed out.
    pause();
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
  KP_TRY(failure.may_cost ? settle(work.entry, work.entry.standing, reserved)
                          : settle(work.entry, {}, {}));
  if (wait) {
    return wait_or_stop(*wait, work.stop) ? Result<std::optional<Called>>(std::optional<Called>())
                                          : interrupted(call.id);
  }
  if (call.state == CallState::failed) {
    return std::optional(
        Called{.kind = Called::Kind::failed, .answer = {}, .reason = call.failure});
  }
  return stopped ? interrupted(call.id) : failure.error;
}

std::optional<double> BudgetedCaller::wait_after(int tries, const ChatFailure& failure) const {
  return options_.retry_wait ? options_.retry_wait(tries, failure)
                             : retry_wait(tries, failure, Random(secret_seed()).unit());
}

}  // namespace kernelpro
