#include "coordinator/llm/batch.hpp"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include "coordinator/llm/batch_fixture.hpp"
#include "coordinator/llm/token_count.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using testing::Asker;
using testing::BatchTest;
using testing::coder;
using ::testing::ElementsAre;
using testing::error_text;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::lost;
using ::testing::MatchesRegex;
using testing::planner;
using testing::refusal;
using testing::request_of;
using testing::response;
using ::testing::SizeIs;
using json = nlohmann::json;

TEST_F(BatchTest, RequestsAreHandedOutInTheFormOfOpenAisBatches) {
  Asker run = asker();
  ask(run, {planner, coder});
  const std::vector<json> lines = requests();
  ASSERT_THAT(lines, SizeIs(2));
  EXPECT_THAT(lines[0].at("custom_id").get<std::string>(),
              MatchesRegex("gemm-1\\.1\\.planner\\.1\\.[0-9a-f]{8}"));
  EXPECT_EQ(lines[0].at("method"), "POST");
  EXPECT_EQ(lines[0].at("url"), "/v1/chat/completions");
  EXPECT_EQ(lines[0].at("body").at("model"), "any");
  EXPECT_EQ(lines[0].at("body").at("messages")[1].at("content"), "Write.");
  EXPECT_EQ(lines[0].at("body").at("max_completion_tokens"), 100);
  EXPECT_EQ(lines[0].size(), 4U);
  EXPECT_EQ(json::parse(run.journal.call("1.planner.1").request), lines[0].at("body"));
}

TEST_F(BatchTest, NothingIsHandedOutBeforeTheRunStopsToWait) {
  Asker run = asker();
  run.start();
  EXPECT_EQ(run.call(coder)->kind, Called::Kind::not_yet);
  EXPECT_FALSE(fs::exists(folder()));
}

TEST_F(BatchTest, AnswersComeInAnyOrderAndSomeAtATime) {
  Asker run = asker();
  ask(run, {planner, coder});
  const std::vector<std::string> ids = open_ids();
  respond({response(ids[1], "code")});
  run.start();
  EXPECT_EQ(answer_to(run, planner), "");
  EXPECT_EQ(answer_to(run, coder), "code");
  ASSERT_TRUE(run.hand_out().ok());
  EXPECT_THAT(open_ids(), ElementsAre(ids[0])) << "what is answered is open no longer";
  EXPECT_EQ(run.journal.call("7.coder.1").answered_by, "a-person");

  respond({response(ids[1], "code"), response(ids[0], "plan")});
  run.start();
  EXPECT_EQ(answer_to(run, planner), "plan");
  EXPECT_EQ(answer_to(run, coder), "code") << "that its answer is still there is fine";
  ASSERT_TRUE(run.hand_out().ok());
  EXPECT_THAT(open_ids(), IsEmpty());
}

TEST_F(BatchTest, AllFilesOfResponsesAreRead) {
  Asker run = asker();
  ask(run, {planner, coder});
  const std::vector<std::string> ids = open_ids();
  respond({response(ids[0], "plan")}, "responses-1.jsonl");
  respond({response(ids[1], "code")}, "responses_later.jsonl");
  respond({json("not one of them")}, "answers.jsonl");
  run.start();
  EXPECT_EQ(answer_to(run, planner), "plan");
  EXPECT_EQ(answer_to(run, coder), "code");
}

TEST_F(BatchTest, WhatWaitsStaysHandedOutThoughItIsNotAskedForAgain) {
  Asker run = asker();
  ask(run, {planner, coder});
  const std::vector<std::string> ids = open_ids();
  run.start();
  ASSERT_TRUE(run.hand_out().ok());
  EXPECT_EQ(open_ids(), ids);
  respond({response(ids[0], "plan")});
  run.start();
  ASSERT_TRUE(run.hand_out().ok());
  EXPECT_THAT(open_ids(), ElementsAre(ids[1])) << "an answer lies there already";
}

TEST_F(BatchTest, APromptRenderedAnewDoesNotLoseTheAnswerToTheOldOne) {
  Asker run = asker();
  ask(run, {coder});
  const std::vector<json> before = requests();
  run.start();
  EXPECT_EQ(run.call(coder, "Rendered anew.")->kind, Called::Kind::not_yet);
  ASSERT_TRUE(run.hand_out().ok());
  EXPECT_EQ(requests(), before);
  respond({response(open_ids()[0], "code")});
  run.start();
  EXPECT_EQ(run.call(coder, "Rendered anew.")->answer.text, "code");
  EXPECT_EQ(run.caller().differing(), 1);
}

TEST_F(BatchTest, WhatWaitsIsHandedOutWithTheSettingsThatAreWantedNow) {
  Asker run = asker();
  ask(run, {planner, coder});
  const std::vector<std::string> ids = open_ids();
  run.settings.roles[LlmRole::coder].temperature = 0.5;
  run.start("better-model");
  EXPECT_EQ(run.call(coder, "Rendered anew.")->kind, Called::Kind::not_yet);
  ASSERT_TRUE(run.hand_out().ok());
  EXPECT_EQ(open_ids(), ids) << "an answer to what was handed out before is taken still";
  const json body = requests()[1].at("body");
  EXPECT_EQ(body.at("model"), "better-model");
  EXPECT_EQ(body.at("temperature"), 0.5);
  EXPECT_EQ(body.at("messages")[1].at("content"), "Write.");
  EXPECT_EQ(requests()[0].at("body").at("model"), "any") << "that one was not asked again";
  EXPECT_EQ(json::parse(run.journal.call("7.coder.1").request), body);
  EXPECT_EQ(run.journal.call("7.coder.1").model, "better-model");
  respond({response(ids[1], "code")});
  run.start("third-model");
  EXPECT_EQ(answer_to(run, coder), "code");
  EXPECT_EQ(run.journal.call("7.coder.1").model, "better-model");
  EXPECT_EQ(run.caller().differing(), 0) << "a model is no other wording";
}

TEST_F(BatchTest, ALongerAnswerThatIsWantedNowIsSetApart) {
  Asker run = asker();
  ask(run, {coder});
  const std::int64_t before = run.caller().taken().tokens;
  run.start();
  EXPECT_EQ(run.caller().call(coder, request_of("Write.", 150), {})->kind, Called::Kind::not_yet);
  ASSERT_TRUE(run.hand_out().ok());
  EXPECT_EQ(requests()[0].at("body").at("max_completion_tokens"), 150);
  EXPECT_EQ(run.caller().taken().tokens, before + 50);
  run.start();
  EXPECT_EQ(run.caller().taken().tokens, before + 50);
}

// As it was named before: by a hash of the whole body.
TEST_F(BatchTest, ARequestWithAnOlderNameIsStillKnown) {
  Asker run = asker();
  ask(run, {coder});
  LlmCall call = run.journal.call("7.coder.1");
  json body = json::parse(call.request);
  body["max_tokens"] = body["max_completion_tokens"];
  body.erase("max_completion_tokens");
  call.request = body.dump();
  ASSERT_TRUE(run.journal.keep(call).ok());
  const std::string name = "gemm-1.7.coder.1." + whole_batch_hash(call.request);
  const json line = {{"custom_id", name}, {"body", body}};
  ASSERT_TRUE(write_file_unsynced(folder() / "requests.jsonl", line.dump() + "\n").ok());
  run.start();
  EXPECT_EQ(answer_to(run, coder), "");
  ASSERT_TRUE(run.hand_out().ok());
  EXPECT_THAT(open_ids(), ElementsAre(name));
  EXPECT_EQ(requests()[0].at("body"), body);
  respond({response(name, "code")});
  run.start();
  EXPECT_EQ(answer_to(run, coder), "code");
}

TEST_F(BatchTest, AFileForAnotherRunSaysWhichRunItIsFor) {
  Asker run = asker();
  ask(run, {coder});
  respond({response("softmax-3.1.coder.1.0123abcd", "x"),
           response("conv-2.1.coder.1.0123abcd", "y"), response("request-17", "z")});
  run.start();
  EXPECT_THAT(
      answer_to(run, coder),
      HasSubstr("responses.jsonl: this file answers no request of the run gemm-1: it is for "
                "conv-2, request-17, softmax-3"));
}

TEST_F(BatchTest, AnswersToOtherRunsBesideOursAreLeftAlone) {
  Asker run = asker();
  ask(run, {coder});
  respond({response("softmax-3.1.coder.1.0123abcd", "x"), response(open_ids()[0], "code"),
           json{{"custom_id", "softmax-3.2.coder.1.0123abcd"}, {"nonsense", 1}}});
  run.start();
  EXPECT_EQ(answer_to(run, coder), "code");
}

TEST_F(BatchTest, RunsShareAFolderAndReplaceOnlyTheirOwnLines) {
  Asker one = asker("gemm-1");
  Asker other = asker("gemm-10");
  ask(one, {planner});
  ask(other, {planner, coder});
  const std::vector<std::string> ids = open_ids();
  ASSERT_THAT(ids, SizeIs(3));
  EXPECT_THAT(ids[0], HasSubstr("gemm-1.1.planner"));
  EXPECT_THAT(ids[1], HasSubstr("gemm-10.1.planner"));
  respond({response(ids[1], "plan"), response(ids[2], "code")});
  other.start();
  EXPECT_EQ(answer_to(other, planner), "plan");
  EXPECT_EQ(answer_to(other, coder), "code");
  ASSERT_TRUE(other.hand_out().ok());
  EXPECT_THAT(open_ids(), ElementsAre(ids[0]));
  one.start();
  EXPECT_EQ(answer_to(one, planner), "") << "its own is not answered yet, and that is no error";
}

TEST_F(BatchTest, ProcessesThatWriteAtOnceLoseNothing) {
  constexpr int processes = 6;
  constexpr int rounds = 10;
  std::vector<pid_t> children;
  for (int p = 0; p < processes; ++p) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      const BatchFolder place(folder());
      const BatchId id{.run = "run-" + std::to_string(p), .call = "1.coder.1", .hash = "0123abcd"};
      bool good = true;
      for (int i = 0; i < rounds; ++i) {
        good = good &&
               place.replace(id.run, {json{{"custom_id", id.text()}, {"round", i}}.dump()}).ok();
      }
      ::_exit(good ? 0 : 1);
    }
    children.push_back(pid);
  }
  for (const pid_t pid : children) {
    int status = 0;
    ::waitpid(pid, &status, 0);
    EXPECT_EQ(status, 0);
  }
  const std::vector<json> lines = requests();
  EXPECT_THAT(lines, SizeIs(processes));
  for (const json& line : lines) {
    EXPECT_EQ(line.at("round"), rounds - 1);
  }
  EXPECT_THAT(BatchFolder(folder()).read()->runs, SizeIs(processes));
}

TEST_F(BatchTest, ARunOfTheSameNameFromElsewhereIsNotOverwritten) {
  Asker first = asker();
  ask(first, {coder});
  const std::vector<json> before = requests();
  Asker second = asker();
  second.start();
  const Result<Called> called = second.call(planner);
  ASSERT_FALSE(called.ok());
  EXPECT_THAT(called.error().text(),
              HasSubstr("was handed out by another run that is called gemm-1 as well"));
  EXPECT_FALSE(second.hand_out().ok());
  EXPECT_EQ(requests(), before);
}

TEST_F(BatchTest, WhatOthersWroteIntoTheFileOfRequestsIsAnError) {
  Asker run = asker();
  ASSERT_TRUE(make_directories(folder()).ok());
  ASSERT_TRUE(write_file_unsynced(folder() / "requests.jsonl", "{\"custom_id\": \"mine\"}\n").ok());
  run.start();
  EXPECT_THAT(answer_to(run, coder), HasSubstr("requests.jsonl:1: this is no request of a run"));
}

TEST_F(BatchTest, AFileWhereTheFolderShouldBeIsAnError) {
  ASSERT_TRUE(write_file_unsynced(folder(), "a file").ok());
  Asker run = asker();
  run.start();
  EXPECT_THAT(answer_to(run, coder), HasSubstr("a file, expected the folder of a batch"));
}

TEST_F(BatchTest, WithoutUsageTheTokensAreEstimated) {
  Asker run = asker();
  ask(run, {planner, coder});
  const std::vector<std::string> ids = open_ids();
  json counted = response(ids[1], "code");
  counted["response"]["body"]["usage"] = {{"prompt_tokens", 31}, {"completion_tokens", 4}};
  respond({response(ids[0], std::string(35, 'p')), counted});
  run.start();
  (void)answer_to(run, planner);
  const Usage estimate{.input = about_input_tokens(request_of("Write.")), .output = 10};
  EXPECT_EQ(run.journal.call("1.planner.1").usage, estimate);
  EXPECT_FALSE(run.call(planner)->answer.usage_known);
  (void)answer_to(run, coder);
  EXPECT_EQ(run.journal.call("7.coder.1").usage, (Usage{.input = 31, .output = 4}));
}

TEST(BatchId, IsRunCallHashAndAttempt) {
  const auto id = parse_batch_id("gemm-1.7.coder.1.3fa9c2d1");
  ASSERT_TRUE(id.has_value());
  EXPECT_EQ(id->run, "gemm-1");
  EXPECT_EQ(id->call, "7.coder.1");
  EXPECT_EQ(id->hash, "3fa9c2d1");
  EXPECT_EQ(id->attempt, 1);
  EXPECT_EQ(parse_batch_id("a.b.7.coder.1.3fa9c2d1.r3")->run, "a.b");
  EXPECT_EQ(parse_batch_id("a.b.7.coder.1.3fa9c2d1.r3")->attempt, 3);
  EXPECT_EQ(parse_batch_id("a.b.7.coder.1.3fa9c2d1.r3")->text(), "a.b.7.coder.1.3fa9c2d1.r3");
  for (const char* text : {"", ".", "request-1", "7.coder.1.3fa9c2d1", ".7.coder.1.3fa9c2d1",
                           "g.7.cook.1.3fa9c2d1", "g.x.coder.1.3fa9c2d1", "g.7.coder.1.3FA9C2D1",
                           "g.7.coder.1.3fa9c2d", "g.7.coder..3fa9c2d1", "g.7.coder.1.3fa9c2d1.r1",
                           "g.7.coder.1.3fa9c2d1.r", "g.7.coder.1.3fa9c2d1.rr", "r2"}) {
    EXPECT_FALSE(parse_batch_id(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace kernelpro
