#include "coordinator/llm/budgeted_caller.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <latch>
#include <thread>

#include "coordinator/llm/call_fixture.hpp"
#include "coordinator/llm/prompt_cost.hpp"

namespace kernelpro {
namespace {

using testing::all_roles;
using testing::answer_of;
using testing::answered;
using testing::coder;
using testing::error_text;
using ::testing::HasSubstr;
using testing::hasty;
using testing::MemoryJournal;
using testing::request_of;
using testing::ScriptedChat;
using testing::trouble;
using testing::Trouble;
using Kind = Called::Kind;

constexpr Usage small{.input = 40, .cached = 10, .cache_written = 0, .output = 5};
constexpr Trouble overloaded{.retriable = true};
constexpr Trouble cut{.retriable = true, .may_cost = true};
const CallName second_fixer{.node = 8, .role = LlmRole::fixer, .turn = 2};

ScriptedChat::Script always(const Chat::Tried& tried) {
  return [tried](const std::string&, const ChatRequest&, int, const std::stop_token&) {
    return tried;
  };
}

// The first tries go wrong.
ScriptedChat::Script after(std::vector<Chat::Tried> wrong, const Chat::Tried& then) {
  return [wrong = std::move(wrong), then](const std::string&, const ChatRequest&, int tries,
                                          const std::stop_token&) {
    const auto n = static_cast<std::size_t>(tries);
    return n <= wrong.size() ? wrong[n - 1] : then;
  };
}

class BudgetedCallerTest : public ::testing::Test {
 protected:
  BudgetedCallerTest() { settings_.prices["m"] = {1000, 100, 1250, 5000}; }

  // A new process that takes the run up.
  void start(const std::shared_ptr<ScriptedChat>& chat, CallerOptions options = hasty()) {
    caller_.reset();
    chat_ = chat;
    auto made = BudgetedCaller::create(all_roles(chat), journal_, settings_, std::move(options));
    ASSERT_TRUE(made.ok()) << error_text(made);
    caller_ = std::move(*made);
  }
  void start(ScriptedChat::Script script, const std::string& provider = "openai") {
    start(std::make_shared<ScriptedChat>(std::move(script), provider));
  }

  Called call(const CallName& name, const ChatRequest& request = request_of("Write.")) {
    Result<Called> called = caller_->call(name, request, {});
    EXPECT_TRUE(called.ok()) << error_text(called);
    return called ? *called : Called{.kind = Kind::failed, .answer = {}, .reason = "error"};
  }
  std::string error_of(const CallName& name) {
    return error_text(caller_->call(name, request_of("Write."), {}));
  }

  [[nodiscard]] Usage worst() const {
    ChatRequest request = request_of("Write.");
    request.model = "m";
    return prompt_cost(request, settings_).worst;
  }
  [[nodiscard]] std::int64_t worst_tokens() const { return worst().input + worst().output; }

  LlmSettings settings_;
  MemoryJournal journal_;
  std::shared_ptr<ScriptedChat> chat_;
  std::unique_ptr<BudgetedCaller> caller_;
};

TEST_F(BudgetedCallerTest, AnAnswerIsKeptWithWhoAnsweredAndWhatItCost) {
  start(always(answered(answer_of("code", small))));
  const Called called = call(coder);
  EXPECT_EQ(called.kind, Kind::answered);
  EXPECT_EQ(called.answer.text, "code");
  const LlmCall kept = journal_.call("7.coder.1");
  EXPECT_EQ(kept.state, CallState::answered);
  EXPECT_EQ(kept.node, 7);
  EXPECT_EQ(kept.role, LlmRole::coder);
  EXPECT_EQ(kept.turn, 1);
  EXPECT_EQ(kept.provider, "openai");
  EXPECT_EQ(kept.model, "m");
  EXPECT_EQ(kept.answered_by, "model-2026");
  EXPECT_EQ(kept.usage, small);
  EXPECT_EQ(kept.cost, 30 * 1000 + 10 * 100 + 5 * 5000);
  EXPECT_TRUE(kept.priced);
  EXPECT_GT(kept.latency_ns, 0);
  EXPECT_THAT(kept.request, HasSubstr("Write."));
  EXPECT_FALSE(kept.started.empty());
  EXPECT_EQ(caller_->taken(), (Charge{.tokens = 45, .cost = kept.cost}));
}

TEST_F(BudgetedCallerTest, BeforeItIsMadeACallIsKeptWithWhatIsSetApart) {
  LlmCall seen;
  start([&](const std::string& id, const ChatRequest&, int, const std::stop_token&) {
    seen = journal_.call(id);
    return answered(answer_of("code", small));
  });
  call(coder);
  EXPECT_EQ(seen.state, CallState::waiting);
  EXPECT_EQ(seen.reserved, worst());
  EXPECT_EQ(seen.cost, worst().input * 1250 + worst().output * 5000);
}

TEST_F(BudgetedCallerTest, ACallThatWasAnsweredIsNotMadeAgain) {
  start(always(answered(answer_of("first \xFF", small))));
  const Called first = call(coder);
  const Called same_process = call(coder);
  start(always(answered(answer_of("second", small))));
  const Called later = call(coder);
  EXPECT_EQ(chat_->asked("7.coder.1"), 0);
  for (const Called& called : {first, same_process, later}) {
    EXPECT_EQ(called.answer.text, "first \xEF\xBF\xBD") << "as JSON can keep it, from the start";
    EXPECT_EQ(called.answer.usage, small);
  }
  EXPECT_EQ(caller_->taken().tokens, 45);
  EXPECT_EQ(caller_->differing(), 0);
}

TEST_F(BudgetedCallerTest, AKeptAnswerToAnotherRequestCountsAndIsCounted) {
  start(always(answered(answer_of("first", small))));
  call(coder);
  start(always(answered(answer_of("second", small))));
  EXPECT_EQ(call(coder, request_of("Rendered anew.")).answer.text, "first");
  EXPECT_EQ(caller_->differing(), 1);
  EXPECT_THAT(journal_.call("7.coder.1").request, HasSubstr("Write."));
}

TEST_F(BudgetedCallerTest, TheRoleSaysModelAndTemperature) {
  settings_.roles[LlmRole::fixer].temperature = 0.25;
  std::vector<ChatRequest> seen;
  start([&](const std::string&, const ChatRequest& request, int, const std::stop_token&) {
    seen.push_back(request);
    return answered(answer_of("code", small));
  });
  call(coder);
  call(second_fixer);
  ChatRequest own = request_of("Write.");
  own.temperature = 1;
  call({.node = 9, .role = LlmRole::fixer, .turn = 1}, own);
  ASSERT_EQ(seen.size(), 3U);
  EXPECT_EQ(seen[0].model, "m");
  EXPECT_FALSE(seen[0].temperature.has_value());
  EXPECT_EQ(seen[1].temperature, 0.25);
  EXPECT_EQ(seen[2].temperature, 1);
}

TEST_F(BudgetedCallerTest, ABudgetOfMoneyAndAModelWithoutAPriceIsAnErrorBeforeAnyCall) {
  settings_.money_budget = 1;
  settings_.prices.clear();
  const auto chat = std::make_shared<ScriptedChat>(always(answered(answer_of("", small))));
  const auto made = BudgetedCaller::create(all_roles(chat, "llama"), journal_, settings_);
  EXPECT_THAT(error_text(made), HasSubstr("--price llama=IN/OUT"));
}

TEST_F(BudgetedCallerTest, WhatTheBudgetDoesNotAllowIsNeitherMadeNorKept) {
  settings_.token_budget = worst_tokens() + 44;
  start(always(answered(answer_of("code", small))));
  EXPECT_EQ(call(coder).kind, Kind::answered);
  EXPECT_EQ(caller_->tokens_left(), worst_tokens() - 1);
  const Called called = call(second_fixer);
  EXPECT_EQ(called.kind, Kind::spent);
  EXPECT_THAT(called.reason, HasSubstr(std::to_string(worst_tokens() - 1) + " left"));
  EXPECT_EQ(chat_->asked("8.fixer.2"), 0);
  EXPECT_EQ(journal_.call("8.fixer.2").id, "");
}

TEST_F(BudgetedCallerTest, MoneyThatIsSpentStopsCallsToo) {
  settings_.money_budget = 1000;
  start(always(answered(answer_of("code", small))));
  const Called called = call(coder);
  EXPECT_EQ(called.kind, Kind::spent);
  EXPECT_THAT(called.reason, HasSubstr("the budget of $0.000001"));
}

TEST_F(BudgetedCallerTest, WhatOthersInFlightGiveBackIsWaitedFor) {
  settings_.token_budget = worst_tokens() + 100;
  std::latch asked(1);
  std::latch may_answer(1);
  start([&](const std::string& id, const ChatRequest&, int, const std::stop_token&) {
    if (id == "7.coder.1") {
      asked.count_down();
      may_answer.wait();
    }
    return answered(answer_of(id, small));
  });
  std::jthread first([&] { call(coder); });
  asked.wait();
  Called second;
  std::jthread waits([&] { second = call(second_fixer); });
  may_answer.count_down();
  first.join();
  waits.join();
  EXPECT_EQ(second.kind, Kind::answered);
}

TEST_F(BudgetedCallerTest, AFailureThatCostsNothingIsTriedAgainForNothing) {
  start(after({trouble(overloaded, "429"), trouble(overloaded, "529")},
              answered(answer_of("code", small))));
  EXPECT_EQ(call(coder).kind, Kind::answered);
  EXPECT_EQ(chat_->asked("7.coder.1"), 3);
  EXPECT_EQ(journal_.call("7.coder.1").usage, small);
  EXPECT_EQ(caller_->taken().tokens, 45);
}

TEST_F(BudgetedCallerTest, AStreamThatWasCutCostsWhatWasSetApartAndItsRetryMore) {
  start(after({trouble(cut, "cut")}, answered(answer_of("code", small))));
  EXPECT_EQ(call(coder).kind, Kind::answered);
  EXPECT_EQ(caller_->taken().tokens, worst_tokens() + 45);
  const LlmCall kept = journal_.call("7.coder.1");
  EXPECT_EQ(kept.usage.input, worst().input + 40);
  EXPECT_EQ(kept.cost, worst().input * 1250 + worst().output * 5000 + 56'000);
  EXPECT_EQ(caller_->taken().cost, kept.cost);
  const Charge taken = caller_->taken();
  start(always(answered(answer_of("again", small))));
  EXPECT_EQ(caller_->taken(), taken) << "the same when the run is taken up";
}

TEST_F(BudgetedCallerTest, ARetryThatTheBudgetDoesNotAllowIsNotMade) {
  settings_.token_budget = 2 * worst_tokens() - 1;
  start(after({trouble(cut, "cut")}, answered(answer_of("code", small))));
  EXPECT_EQ(call(coder).kind, Kind::spent);
  EXPECT_EQ(chat_->asked("7.coder.1"), 1);
  EXPECT_EQ(caller_->taken().tokens, worst_tokens());
  const LlmCall kept = journal_.call("7.coder.1");
  EXPECT_EQ(kept.state, CallState::waiting);
  EXPECT_EQ(kept.reserved, Usage{});
  EXPECT_EQ(kept.usage, worst());
  start(after({}, answered(answer_of("code", small))));
  EXPECT_EQ(caller_->tokens_left(), worst_tokens() - 1);
}

TEST_F(BudgetedCallerTest, ACallThatIsCutEveryTimeFailsForGood) {
  start(always(trouble(cut, "the stream ended early")));
  const Called called = call(coder);
  EXPECT_EQ(called.kind, Kind::failed);
  EXPECT_EQ(called.reason, "the stream ended early");
  EXPECT_EQ(chat_->asked("7.coder.1"), 6);
  EXPECT_EQ(caller_->taken().tokens, 6 * worst_tokens());
  start(always(answered(answer_of("code", small))));
  const Called later = call(coder);
  EXPECT_EQ(later.kind, Kind::failed) << "the tree must be the same again";
  EXPECT_EQ(later.reason, "the stream ended early");
  EXPECT_EQ(caller_->taken().tokens, 6 * worst_tokens());
}

TEST_F(BudgetedCallerTest, ARequestThatIsRefusedFailsAloneAndCostsNothing) {
  start(after({trouble({}, "the prompt is too long", ErrorKind::bad_input)},
              answered(answer_of("code", small))));
  EXPECT_EQ(call(coder).kind, Kind::failed);
  EXPECT_EQ(caller_->taken().tokens, 0);
  EXPECT_EQ(journal_.call("7.coder.1").failure, "the prompt is too long");
  EXPECT_EQ(call(second_fixer).kind, Kind::failed);
}

TEST_F(BudgetedCallerTest, WhatEndsTheRunLeavesNothingSetApart) {
  settings_.token_budget = worst_tokens();
  start(always(trouble({.for_all = true}, "the provider wants another key", ErrorKind::bad_input)));
  EXPECT_EQ(error_of(coder), "the provider wants another key");
  EXPECT_EQ(caller_->taken(), Charge{});
  EXPECT_EQ(journal_.call("7.coder.1").state, CallState::waiting);
  start(always(answered(answer_of("code", small))));
  EXPECT_EQ(caller_->taken(), Charge{});
  EXPECT_EQ(call(coder).kind, Kind::answered) << "with the right key it goes on";
}

TEST_F(BudgetedCallerTest, WhoStaysAwayEndsTheRunAndNotTheCall) {
  for (const Trouble& kind : {Trouble{.retriable = true, .for_all = true}, overloaded}) {
    start(always(trouble(kind, "nobody answers there", ErrorKind::environment)));
    EXPECT_EQ(error_of(coder), "nobody answers there");
    EXPECT_EQ(chat_->asked("7.coder.1"), 6);
    EXPECT_EQ(journal_.call("7.coder.1").state, CallState::waiting);
    EXPECT_EQ(caller_->taken(), Charge{});
  }
}

TEST_F(BudgetedCallerTest, AGatewayThatStaysBrokenEndsTheRunAndNotTheCall) {
  start(always(trouble({.retriable = true, .may_cost = true, .away = true}, "HTTP 502")));
  EXPECT_EQ(error_of(coder), "HTTP 502");
  EXPECT_EQ(chat_->asked("7.coder.1"), 6);
  const LlmCall kept = journal_.call("7.coder.1");
  EXPECT_EQ(kept.state, CallState::waiting);
  EXPECT_EQ(kept.reserved, Usage{});
  EXPECT_EQ(caller_->taken().tokens, 6 * worst_tokens()) << "what they may have cost is counted";
  start(always(answered(answer_of("code", small))));
  EXPECT_EQ(call(coder).kind, Kind::answered) << "when the run is taken up it goes on";
  EXPECT_EQ(caller_->taken().tokens, 6 * worst_tokens() + 45);
}

TEST_F(BudgetedCallerTest, AnAnswerThatComesLaterKeepsItsReservationAcrossProcesses) {
  settings_.token_budget = worst_tokens() + 10;
  start(always({}), "batch");
  EXPECT_EQ(call(coder).kind, Kind::not_yet);
  EXPECT_EQ(call(coder).kind, Kind::not_yet) << "asked again, set apart once";
  EXPECT_EQ(caller_->tokens_left(), 10);
  start(always({}), "batch");
  EXPECT_EQ(caller_->tokens_left(), 10);
  EXPECT_EQ(call(coder).kind, Kind::not_yet);
  EXPECT_EQ(caller_->tokens_left(), 10);
  start(always(answered(answer_of("code", small))), "batch");
  EXPECT_EQ(call(coder).kind, Kind::answered);
  EXPECT_EQ(caller_->taken().tokens, 45);
  EXPECT_EQ(caller_->taken().cost, journal_.call("7.coder.1").cost);
}

TEST_F(BudgetedCallerTest, OthersDoNotWaitForAnswersThatComeLater) {
  settings_.token_budget = worst_tokens() + 10;
  start(always({}), "batch");
  EXPECT_EQ(call(coder).kind, Kind::not_yet);
  EXPECT_EQ(call(second_fixer).kind, Kind::spent);
}

TEST_F(BudgetedCallerTest, ARequestThatWasHandedOutStaysAsItIs) {
  start(always({}), "batch");
  call(coder);
  const std::string request = journal_.call("7.coder.1").request;
  start(always(answered(answer_of("code", small))), "batch");
  EXPECT_EQ(call(coder, request_of("Rendered anew.")).kind, Kind::answered);
  EXPECT_EQ(journal_.call("7.coder.1").request, request);
  EXPECT_EQ(caller_->differing(), 1);
}

TEST_F(BudgetedCallerTest, WhatWasHandedOutAndIsAskedElsewhereNowCostsNothingThere) {
  settings_.token_budget = worst_tokens() + 10;
  start(always({}), "batch");
  EXPECT_EQ(call(coder).kind, Kind::not_yet);
  start(always(answered(answer_of("code", small))), "openai");
  EXPECT_EQ(caller_->tokens_left(), 10);
  EXPECT_EQ(call(coder, request_of("Rendered anew.", 90)).kind, Kind::answered);
  EXPECT_EQ(caller_->taken().tokens, 45);
  EXPECT_EQ(caller_->taken().cost, journal_.call("7.coder.1").cost);
  EXPECT_EQ(journal_.call("7.coder.1").usage, small);
  EXPECT_EQ(caller_->differing(), 0) << "nobody had answered it";
}

TEST_F(BudgetedCallerTest, AnErrorInTheFolderLeavesWhatIsHandedOut) {
  start(always({}), "batch");
  call(coder);
  start(always(trouble({.for_all = true}, "responses.jsonl:3", ErrorKind::bad_input)), "batch");
  EXPECT_EQ(error_of(coder), "responses.jsonl:3");
  EXPECT_EQ(caller_->taken().tokens, worst_tokens());
  EXPECT_EQ(journal_.call("7.coder.1").reserved, worst());
}

TEST_F(BudgetedCallerTest, APriceThatCameLaterIsSetApartThen) {
  settings_.prices.clear();
  start(always({}), "batch");
  call(coder);
  EXPECT_EQ(caller_->taken().cost, 0);
  EXPECT_FALSE(journal_.call("7.coder.1").priced);
  settings_.prices["m"] = {1000, 1000, 1000, 1000};
  settings_.money_budget = worst_tokens() * 1000 - 1;
  start(always(answered(answer_of("code", small))), "batch");
  EXPECT_EQ(call(coder).kind, Kind::spent);
  settings_.money_budget += 1;
  start(always(answered(answer_of("code", small))), "batch");
  EXPECT_EQ(call(coder).kind, Kind::answered);
  EXPECT_EQ(caller_->taken().cost, 45'000);
}

TEST_F(BudgetedCallerTest, ACallThatWasCutWithItsProcessStaysChargedBesideItsRepetition) {
  // Killed while it waits: the answer can no longer be kept.
  journal_.allow(1);
  start(always(answered(answer_of("lost", small))));
  EXPECT_THAT(error_of(coder), HasSubstr("No space left"));
  journal_.allow(std::nullopt);
  start(always(answered(answer_of("code", small))));
  EXPECT_EQ(caller_->taken().tokens, worst_tokens());
  EXPECT_EQ(call(coder).answer.text, "code");
  EXPECT_EQ(caller_->taken().tokens, worst_tokens() + 45);
  EXPECT_EQ(caller_->taken().cost, journal_.call("7.coder.1").cost);
}

TEST_F(BudgetedCallerTest, WhatCannotBeKeptIsNotAsked) {
  journal_.allow(0);
  start(always(answered(answer_of("code", small))));
  EXPECT_THAT(error_of(coder), HasSubstr("No space left"));
  EXPECT_EQ(chat_->asked("7.coder.1"), 0);
}

TEST_F(BudgetedCallerTest, AnAnswerWithoutUsageCostsWhatWasSetApart) {
  start(always(answered(answer_of("code", {}, false))));
  call(coder);
  EXPECT_EQ(caller_->taken().tokens, worst_tokens());
  EXPECT_EQ(journal_.call("7.coder.1").usage, worst());
}

TEST_F(BudgetedCallerTest, AnAnswerByHandCostsItsEstimateAndNeverMoreThanWasSetApart) {
  start(always(answered(answer_of("code", small, false))), "batch");
  call(coder);
  EXPECT_EQ(caller_->taken().tokens, 45);
  start(always(answered(answer_of("long", {.input = 1'000'000, .output = 1'000'000}, false))),
        "batch");
  call(second_fixer);
  EXPECT_EQ(caller_->taken().tokens, 45 + worst_tokens());
}

TEST_F(BudgetedCallerTest, NoMoreThanSoManyAreInFlight) {
  std::atomic<int> now = 0;
  std::atomic<int> most = 0;
  CallerOptions options = hasty();
  options.in_flight = 3;
  start(std::make_shared<ScriptedChat>(
            [&](const std::string& id, const ChatRequest&, int, const std::stop_token&) {
              const int there = ++now;
              int seen = most;
              while (seen < there && !most.compare_exchange_weak(seen, there)) {
              }
              std::this_thread::yield();
              --now;
              return answered(answer_of(id, small));
            }),
        options);
  std::vector<std::jthread> threads;
  for (int i = 0; i < 24; ++i) {
    threads.emplace_back([&, i] {
      const CallName name{.node = i, .role = LlmRole::coder, .turn = 1};
      EXPECT_EQ(call(name).answer.text, name.id());
    });
  }
  threads.clear();
  EXPECT_LE(most, 3);
  EXPECT_EQ(caller_->taken().tokens, 24 * 45);
}

TEST_F(BudgetedCallerTest, TheSameCallByTwoThreadsIsMadeOnce) {
  start([&](const std::string& id, const ChatRequest&, int, const std::stop_token&) {
    std::this_thread::yield();
    return answered(answer_of(id, small));
  });
  std::vector<std::jthread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] { EXPECT_EQ(call(coder).kind, Kind::answered); });
  }
  threads.clear();
  EXPECT_EQ(chat_->asked("7.coder.1"), 1);
}

TEST_F(BudgetedCallerTest, WhoeverAsksToStopLeavesACallThatCanBeTakenUp) {
  std::stop_source source;
  start([&](const std::string&, const ChatRequest&, int, const std::stop_token&) {
    source.request_stop();
    return trouble({.may_cost = true}, "asked to stop", ErrorKind::interrupted);
  });
  const Result<Called> called = caller_->call(coder, request_of("Write."), source.get_token());
  ASSERT_FALSE(called.ok());
  EXPECT_EQ(called.error().kind, ErrorKind::interrupted);
  EXPECT_EQ(journal_.call("7.coder.1").state, CallState::waiting);
  EXPECT_EQ(caller_->taken().tokens, worst_tokens()) << "it may have cost that";
  start(always(answered(answer_of("code", small))));
  EXPECT_EQ(call(coder).kind, Kind::answered);
}

TEST_F(BudgetedCallerTest, AKeptAnswerThatIsDamagedIsAnError) {
  LlmCall damaged;
  damaged.id = "7.coder.1";
  damaged.state = CallState::answered;
  damaged.answer = R"({"text": 5})";
  ASSERT_TRUE(journal_.keep(damaged).ok());
  start(always(answered(answer_of("code", small))));
  EXPECT_THAT(error_of(coder), HasSubstr("7.coder.1: the kept answer cannot be read"));
}

TEST_F(BudgetedCallerTest, ChatsHandOutOnceEach) {
  start(always({}), "batch");
  ASSERT_TRUE(caller_->hand_out().ok());
  EXPECT_EQ(chat_->handed_out, 1) << "all roles share it";
}

TEST(CallName, IsNodeRoleAndTurn) {
  EXPECT_EQ(coder.id(), "7.coder.1");
  EXPECT_EQ(second_fixer.id(), "8.fixer.2");
}

}  // namespace
}  // namespace kernelpro
