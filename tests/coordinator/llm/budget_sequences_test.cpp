// Random runs with answers, cut streams, refusals, retries and kills, against a provider that keeps
// a bill: whatever happens, the bill stays within the budgets, to the token and to the billionth.
#include <gmock/gmock.h>

#include <atomic>
#include <thread>

#include "common/base/hash.hpp"
#include "common/base/random.hpp"
#include "coordinator/llm/call_fixture.hpp"
#include "coordinator/llm/prompt_cost.hpp"

namespace kernelpro {
namespace {

using testing::all_roles;
using testing::answer_of;
using testing::answered;
using testing::error_text;
using testing::hasty;
using testing::MemoryJournal;
using testing::price;
using testing::request_of;
using testing::trouble;

struct Tally {
  std::atomic<int> answered = 0;
  std::atomic<int> spent = 0;
  std::atomic<int> cut = 0;
  std::atomic<int> later = 0;
  std::atomic<int> killed = 0;
};

// Charges what it likes, up to what a request allows.
class BillingChat : public Chat {
 public:
  BillingChat(std::uint64_t seed, std::string provider, const LlmSettings& settings, Tally& tally)
      : random_(seed), provider_(std::move(provider)), settings_(settings), tally_(tally) {}

  [[nodiscard]] std::string provider() const override { return provider_; }
  [[nodiscard]] std::string body(const ChatRequest& request) const override {
    return openai_body(request, false).dump();
  }

  [[nodiscard]] Tried try_once(const std::string& id, const ChatRequest& request,
                               const TextListener&, std::stop_token) override {
    const std::lock_guard lock(mutex_);
    if (const auto there = lying_.find(id); there != lying_.end()) {
      return there->second;
    }
    const Usage worst = prompt_cost(request, settings_).worst;
    const std::uint64_t dice = random_.below(10);
    if (provider_ == "batch" && dice < 4) {
      ++tally_.later;
      return {};
    }
    if (dice == 4) {
      return trouble({.retriable = true}, "429");
    }
    if (dice == 5) {
      return trouble({.for_all = true}, "no quota");
    }
    if (dice == 6) {
      return trouble({}, "refused");
    }
    const Usage usage = bill(worst);
    if (dice == 7 && provider_ != "batch") {
      ++tally_.cut;
      return trouble({.retriable = random_.below(4) > 0, .may_cost = true}, "cut");
    }
    // One that says nothing is charged all the same.
    const bool known = provider_ == "batch" || random_.below(4) > 0;
    const Tried tried = answered(answer_of("code", known ? usage : Usage{}, known));
    if (provider_ == "batch") {
      lying_.emplace(id, tried);
    }
    return tried;
  }

  [[nodiscard]] Charge bill() {
    const std::lock_guard lock(mutex_);
    return bill_;
  }

 private:
  Usage bill(const Usage& worst) {
    const auto up_to = [&](std::int64_t most) {
      const std::uint64_t dice = random_.below(4);
      return dice == 0
                 ? most
                 : static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(most) + 1));
    };
    Usage usage{.input = up_to(worst.input), .output = up_to(worst.output)};
    usage.cached = up_to(usage.input);
    usage.cache_written = up_to(usage.input - usage.cached);
    bill_.tokens += usage.input + usage.output;
    bill_.cost += cost_of(usage, price);
    return usage;
  }

  std::mutex mutex_;
  Random random_;
  const std::string provider_;
  const LlmSettings settings_;
  Tally& tally_;
  Charge bill_;
  std::map<std::string, Tried> lying_;  // an answer of a batch is paid for once
};

// One process: some threads ask until they have asked all, or an error ends them.
void run_process(BudgetedCaller& caller, std::uint64_t seed, Tally& tally) {
  constexpr int threads = 3;
  std::vector<std::jthread> asking;
  for (int t = 0; t < threads; ++t) {
    asking.emplace_back([&caller, &tally, seed, t] {
      for (int i = 0; i < 4; ++i) {
        const CallName name{.node = i * threads + t, .role = LlmRole::coder, .turn = 1};
        const auto draw = counter_hash(seed, static_cast<std::uint64_t>(name.node));
        const std::string text(draw % 400, 'x');
        const Result<Called> called =
            caller.call(name, request_of(text, static_cast<std::int64_t>(draw >> 32U) % 500), {});
        if (!called) {
          return;
        }
        tally.answered += called->kind == Called::Kind::answered ? 1 : 0;
        tally.spent += called->kind == Called::Kind::spent ? 1 : 0;
      }
    });
  }
}

void run_sequence(std::uint64_t seed, Tally& tally) {
  Random random(seed);
  LlmSettings settings;
  settings.prices["m"] = price;
  const bool tokens = random.below(3) > 0;
  settings.token_budget = tokens ? 500 + static_cast<std::int64_t>(random.below(8000)) : 0;
  settings.money_budget = tokens && random.below(2) > 0
                              ? 0
                              : 2'000'000 + static_cast<std::int64_t>(random.below(30'000'000));
  const std::string provider = random.below(3) == 0 ? "batch" : "openai";
  const auto chat = std::make_shared<BillingChat>(random.next(), provider, settings, tally);
  MemoryJournal journal;
  const std::uint64_t processes = 1 + random.below(4);
  for (std::uint64_t process = 0; process < processes; ++process) {
    // Nothing can be kept after a kill, and so nothing begun; what is in flight still costs.
    const bool killed = random.below(2) > 0;
    tally.killed += killed ? 1 : 0;
    journal.allow(killed ? std::optional(static_cast<int>(random.below(20))) : std::nullopt);
    const auto caller = BudgetedCaller::create(all_roles(chat), journal, settings, hasty());
    ASSERT_TRUE(caller.ok()) << error_text(caller);
    run_process(**caller, seed, tally);
    const Charge bill = chat->bill();
    const Charge taken = (*caller)->taken();
    if (settings.token_budget > 0) {
      ASSERT_LE(bill.tokens, settings.token_budget) << "sequence " << seed;
      ASSERT_LE(taken.tokens, settings.token_budget) << "sequence " << seed;
    }
    if (settings.money_budget > 0) {
      ASSERT_LE(bill.cost, settings.money_budget) << "sequence " << seed;
      ASSERT_LE(taken.cost, settings.money_budget) << "sequence " << seed;
    }
    ASSERT_LE(bill.tokens, taken.tokens) << "sequence " << seed;
    ASSERT_LE(bill.cost, taken.cost) << "sequence " << seed;
  }
}

TEST(BudgetSequences, NeverGoOverByATokenOrABillionth) {
  Tally tally;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    run_sequence(seed, tally);
    if (HasFatalFailure()) {
      return;
    }
  }
  // Else nothing was tried.
  EXPECT_GT(tally.answered, 150);
  EXPECT_GT(tally.spent, 150);
  EXPECT_GT(tally.cut, 45);
  EXPECT_GT(tally.later, 45);
  EXPECT_GT(tally.killed, 45);
}

}  // namespace
}  // namespace kernelpro
