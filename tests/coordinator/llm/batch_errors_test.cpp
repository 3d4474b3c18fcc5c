// What is wrong in the answers of a batch, and what becomes of it.
#include "coordinator/llm/batch_fixture.hpp"

namespace kernelpro {
namespace {

using ::testing::AllOf;
using testing::Asker;
using testing::BatchTest;
using testing::coder;
using testing::completion;
using ::testing::ElementsAre;
using testing::error_text;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::lost;
using testing::planner;
using testing::refusal;
using testing::response;
using ::testing::SizeIs;
using json = nlohmann::json;

TEST_F(BatchTest, ErrorsAreToldWithTheirReasonOnceAndWhatBecomesOfThem) {
  Asker run = asker();
  const CallName fixer{.node = 9, .role = LlmRole::fixer, .turn = 1};
  ask(run, {planner, coder, fixer});
  EXPECT_THAT(run.caller().remarks(), IsEmpty());
  const std::string file = (folder() / "responses.jsonl").string();
  for (int attempt = 2; attempt <= 3; ++attempt) {
    const std::vector<std::string> ids = open_ids();
    respond({refusal(ids[0], 400, "no such\n\x1bmodel"), response("gemm-9.1.coder.1.0123abcd", "x"),
             refusal(ids[1], 400, "no such\n\x1bmodel"), lost(ids[2], "expired")});
    run.start();
    ASSERT_TRUE(run.hand_out().ok());
    const std::string again = " asked again (attempt " + std::to_string(attempt) + " of 3): ";
    EXPECT_THAT(run.caller().remarks(),
                ElementsAre("1 answer is an error and is" + again + file + ":4: expired",
                            "2 answers are errors and are" + again + file +
                                ":1: status 400: no such ?model"));
  }
  const std::vector<std::string> ids = open_ids();
  respond({refusal(ids[0], 400, "no"), refusal(ids[1], 400, "no"), response(ids[2], "code")});
  run.start();
  EXPECT_EQ(answer_to(run, fixer), "code");
  EXPECT_EQ(run.call(coder)->kind, Called::Kind::failed);
  EXPECT_THAT(
      run.caller().remarks(),
      ElementsAre("2 requests are given up after 3 attempts: " + file + ":1: status 400: no"));
}

TEST_F(BatchTest, WhatHoldsNoAnswerFailsAloneAndAnEmptyErrorIsNone) {
  Asker run = asker();
  const CallName fixer{.node = 9, .role = LlmRole::fixer, .turn = 1};
  ask(run, {planner, coder, fixer});
  const std::vector<std::string> ids = open_ids();
  json error = response(ids[0], "");
  error["response"]["body"] = {{"error", {{"message", "overloaded"}}}};
  json empty = response(ids[1], "");
  empty["response"]["body"]["choices"] = json::array();
  for (const json& none : {json(""), json::object(), json(false), json{{"message", nullptr}}}) {
    json good = response(ids[2], "fixed");
    good["error"] = none;
    respond({error, empty, good});
    Asker copy = asker();
    for (const char* const id : {"1.planner.1", "7.coder.1", "9.fixer.1"}) {
      ASSERT_TRUE(copy.journal.keep(run.journal.call(id)).ok());
    }
    copy.start();
    EXPECT_EQ(answer_to(copy, fixer), "fixed") << none.dump();
    EXPECT_EQ(answer_to(copy, planner), "");
    EXPECT_EQ(answer_to(copy, coder), "");
    EXPECT_THAT(copy.caller().remarks(),
                ElementsAre(HasSubstr("responses.jsonl:1: overloaded"),
                            HasSubstr("responses.jsonl:2: there is no answer among its")));
  }
}

TEST_F(BatchTest, TheMarkOfUtf8AloneInALineIsNoError) {
  Asker run = asker();
  ask(run, {coder});
  respond_text("\xEF\xBB\xBF\r\n" + response(open_ids()[0], "code").dump() + "\r\n");
  run.start();
  EXPECT_EQ(answer_to(run, coder), "code");
}

TEST_F(BatchTest, AFolderThatCannotBeUsedIsFoundWithoutLeavingOneThere) {
  EXPECT_TRUE(BatchFolder(folder() / "deep" / "er").check_usable().ok());
  EXPECT_FALSE(fs::exists(folder()));
  EXPECT_THAT(error_text(BatchFolder("/proc/x").check_usable()),
              AllOf(HasSubstr("/proc/x"), HasSubstr("the folder of the batch cannot be made")));
  ASSERT_TRUE(make_directories(folder()).ok());
  EXPECT_TRUE(BatchFolder(folder()).check_usable().ok());
  EXPECT_TRUE(fs::exists(folder()));
}

TEST_F(BatchTest, AnErrorIsHandedOutAgainThreeTimesInAll) {
  Asker run = asker();
  ask(run, {coder});
  const std::string id = open_ids()[0];
  respond({refusal(id, 429, "too many")});
  run.start();
  EXPECT_EQ(answer_to(run, coder), "");
  ASSERT_TRUE(run.hand_out().ok());
  EXPECT_THAT(open_ids(), ElementsAre(id + ".r2"));
  // The file of the next batch takes the place of the first.
  respond({lost(id + ".r2", "This request expired.")});
  run.start();
  EXPECT_EQ(answer_to(run, coder), "");
  ASSERT_TRUE(run.hand_out().ok());
  EXPECT_THAT(open_ids(), ElementsAre(id + ".r3"));
  respond({refusal(id + ".r3", 500, "overloaded")});
  run.start();
  const Result<Called> called = run.call(coder);
  ASSERT_TRUE(called.ok()) << error_text(called);
  EXPECT_EQ(called->kind, Called::Kind::failed);
  EXPECT_EQ(called->reason,
            "it was handed out 3 times and failed each time, at last with: status 500: overloaded");
  EXPECT_EQ(run.caller().taken(), Charge{});
  ASSERT_TRUE(run.hand_out().ok());
  EXPECT_THAT(open_ids(), IsEmpty());
}

TEST_F(BatchTest, AnAttemptThatSucceedsIsTakenWhateverBecameOfTheFirst) {
  Asker run = asker();
  ask(run, {planner, coder});
  const std::vector<std::string> ids = open_ids();
  respond({refusal(ids[0], 500, "overloaded"), lost(ids[1], "expired")});
  run.start();
  (void)answer_to(run, planner);
  (void)answer_to(run, coder);
  ASSERT_TRUE(run.hand_out().ok());
  respond({response(ids[0] + ".r2", "plan"), response(ids[1], "late code")});
  run.start();
  EXPECT_EQ(answer_to(run, planner), "plan");
  EXPECT_EQ(answer_to(run, coder), "late code");
}

TEST_F(BatchTest, AnAttemptStaysCountedWhenTheErrorIsNoLongerThere) {
  Asker run = asker();
  ask(run, {coder});
  const std::string id = open_ids()[0];
  respond({lost(id, "expired")});
  run.start();
  (void)answer_to(run, coder);
  ASSERT_TRUE(run.hand_out().ok());
  fs::remove(folder() / "responses.jsonl");
  run.start();
  (void)answer_to(run, coder);
  ASSERT_TRUE(run.hand_out().ok());
  EXPECT_THAT(open_ids(), ElementsAre(id + ".r2")) << "the second is on its way";
}

TEST_F(BatchTest, AnAnswerBesideAnErrorCounts) {
  Asker run = asker();
  ask(run, {planner, coder});
  const std::vector<std::string> ids = open_ids();
  respond({refusal(ids[0], 500, "e"), response(ids[0], "plan"), response(ids[1], "code"),
           refusal(ids[1], 500, "e")});
  run.start();
  EXPECT_EQ(answer_to(run, planner), "plan");
  EXPECT_EQ(answer_to(run, coder), "code");
}

TEST_F(BatchTest, TheSameAnswerTwiceIsFineAndTwoDifferentOnesAreNot) {
  Asker run = asker();
  ask(run, {coder});
  const std::string id = open_ids()[0];
  json again = response(id, "code");
  again["id"] = "another line";
  again["response"]["body"]["created"] = 17;
  respond({response(id, "code"), again});
  Asker copy = asker();
  ASSERT_TRUE(copy.journal.keep(run.journal.call("7.coder.1")).ok());
  copy.start();
  EXPECT_EQ(answer_to(copy, coder), "code");
  respond({response(id, "other code")}, "responses2.jsonl");
  run.start();
  const Result<Called> called = run.call(coder);
  ASSERT_FALSE(called.ok());
  EXPECT_THAT(called.error().text(),
              AllOf(HasSubstr("responses2.jsonl:1: another answer to '" + id + "' is at "),
                    HasSubstr("responses.jsonl:2: remove one of them")));
}

TEST_F(BatchTest, LinesThatAreWrongAreErrorsWithTheirPlaceAndNothingIsTaken) {
  Asker run = asker();
  ask(run, {planner, coder});
  const std::vector<std::string> ids = open_ids();
  const std::string good = response(ids[1], "code").dump() + "\n";
  const std::string stranger = "gemm-1.99.coder.1.0123abcd";
  const std::string other = "gemm-1.7.coder.1.00000000";
  json no_status = response(ids[0], "plan");
  no_status["response"].erase("status_code");
  json no_body = response(ids[0], "plan");
  no_body["response"]["body"] = {{"text", "plan"}};
  const std::vector<std::pair<std::string, std::string>> lines = {
      {"{\"custom_id\": \"gemm", "the line is no JSON, it may be cut"},
      {"[1]", "it has no \"custom_id\""},
      {R"({"custom_id": 5})", "it has no \"custom_id\""},
      {json{{"custom_id", ids[0]}}.dump(), "neither a \"response\" nor an \"error\""},
      {json{{"custom_id", ids[0]}, {"result", {{"type", "succeeded"}}}}.dump(),
       "expected the form of OpenAI's, {\"custom_id\": …, \"response\": {\"status_code\": 200, "},
      {no_status.dump(), "no \"status_code\""},
      {no_body.dump(), "no chat completion"},
      {response(stranger, "x").dump(),
       "'" + stranger + "' answers a request that the run gemm-1 never made"},
      {response(other, "x").dump(),
       "'" + other + "' answers another request than the one that the run gemm-1 handed out"},
      {response(ids[0] + ".r9", "x").dump(), "answers another request"},
  };
  for (const auto& [line, complaint] : lines) {
    respond_text(good + "\n" + line + "\n");
    run.start();
    const Result<Called> called = run.call(coder);
    ASSERT_FALSE(called.ok()) << line;
    EXPECT_EQ(called.error().kind, ErrorKind::bad_input);
    EXPECT_THAT(called.error().text(),
                AllOf(HasSubstr("responses.jsonl:3: "), HasSubstr(complaint)));
    EXPECT_FALSE(run.hand_out().ok());
    EXPECT_EQ(open_ids(), ids) << "nothing is lost";
    EXPECT_EQ(run.journal.call("7.coder.1").state, CallState::waiting);
  }
  respond_text(good);
  run.start();
  EXPECT_EQ(answer_to(run, coder), "code");
}

}  // namespace
}  // namespace kernelpro
