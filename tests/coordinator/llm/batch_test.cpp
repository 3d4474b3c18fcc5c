#include "coordinator/llm/batch.hpp"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "common/base/file.hpp"
#include "coordinator/llm/call_fixture.hpp"
#include "coordinator/llm/token_count.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;
using testing::all_roles;
using ::testing::AllOf;
using testing::coder;
using ::testing::ElementsAre;
using testing::error_text;
using ::testing::HasSubstr;
using testing::hasty;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using testing::MemoryJournal;
using testing::request_of;
using ::testing::SizeIs;
using json = nlohmann::json;

const CallName planner{.node = 1, .role = LlmRole::planner, .turn = 1};

json completion(const std::string& text) {
  return {{"id", "x"},
          {"model", "a-person"},
          {"choices",
           {{{"message", {{"role", "assistant"}, {"content", text}}}, {"finish_reason", "stop"}}}}};
}

json response(const std::string& custom_id, const std::string& text) {
  return {{"id", "r"},
          {"custom_id", custom_id},
          {"response", {{"status_code", 200}, {"request_id", "q"}, {"body", completion(text)}}},
          {"error", nullptr}};
}

json refusal(const std::string& custom_id, int status, const std::string& message) {
  return {{"id", "r"},
          {"custom_id", custom_id},
          {"response", {{"status_code", status}, {"body", {{"error", {{"message", message}}}}}}},
          {"error", nullptr}};
}

json lost(const std::string& custom_id, const std::string& message) {
  return {{"custom_id", custom_id},
          {"response", nullptr},
          {"error", {{"code", "batch_expired"}, {"message", message}}}};
}

// A run that asks by batch: every `start` is another process.
class Asker {
 public:
  Asker(fs::path folder, std::string run) : folder_(std::move(folder)), run_(std::move(run)) {}

  void start(const std::string& model = "any") {
    caller_.reset();
    const auto chat = std::make_shared<BatchChat>(folder_, run_, *journal.all());
    auto made = BudgetedCaller::create(all_roles(chat, model), journal, settings, hasty());
    ASSERT_TRUE(made.ok()) << error_text(made);
    caller_ = std::move(*made);
  }

  Result<Called> call(const CallName& name, const std::string& text = "Write.") {
    return caller_->call(name, request_of(text), {});
  }
  [[nodiscard]] Status hand_out() { return caller_->hand_out(); }
  [[nodiscard]] BudgetedCaller& caller() { return *caller_; }

  MemoryJournal journal;
  LlmSettings settings;

 private:
  fs::path folder_;
  std::string run_;
  std::unique_ptr<BudgetedCaller> caller_;
};

class BatchTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Result<ScratchDir> made = ScratchDir::create("batch-test");
    ASSERT_TRUE(made.ok()) << error_text(made);
    scratch_.emplace(std::move(*made));
  }

  [[nodiscard]] fs::path folder() const { return scratch_->path() / "batch"; }
  [[nodiscard]] Asker asker(const std::string& run = "gemm-1") const { return {folder(), run}; }

  // Asks for these and stops to wait.
  static void ask(Asker& asker, const std::vector<CallName>& names) {
    asker.start();
    for (const CallName& name : names) {
      const Result<Called> called = asker.call(name);
      ASSERT_TRUE(called.ok()) << error_text(called);
      EXPECT_EQ(called->kind, Called::Kind::not_yet);
    }
    const Status handed_out = asker.hand_out();
    ASSERT_TRUE(handed_out.ok()) << error_text(handed_out);
  }

  [[nodiscard]] std::vector<json> requests() const {
    std::vector<json> lines;
    std::ifstream file(folder() / "requests.jsonl");
    for (std::string line; std::getline(file, line);) {
      lines.push_back(json::parse(line));
    }
    return lines;
  }
  [[nodiscard]] std::vector<std::string> open_ids() const {
    std::vector<std::string> ids;
    for (const json& line : requests()) {
      ids.push_back(line.at("custom_id"));
    }
    return ids;
  }

  void respond(const std::vector<json>& lines, const std::string& name = "responses.jsonl") const {
    std::string text;
    for (const json& line : lines) {
      text += line.dump() + "\n";
    }
    respond_text(text, name);
  }
  void respond_text(const std::string& text, const std::string& name = "responses.jsonl") const {
    ASSERT_TRUE(make_directories(folder()).ok());
    ASSERT_TRUE(write_file_atomic(folder() / name, text).ok());
  }

  // The text of the answer after a new start; "" where there is none yet.
  static std::string answer_to(Asker& asker, const CallName& name) {
    const Result<Called> called = asker.call(name);
    return called ? called->answer.text : "error: " + called.error().text();
  }

  std::optional<ScratchDir> scratch_;
};

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
  ASSERT_TRUE(write_file_atomic(folder() / "requests.jsonl", line.dump() + "\n").ok());
  run.start();
  EXPECT_EQ(answer_to(run, coder), "");
  ASSERT_TRUE(run.hand_out().ok());
  EXPECT_THAT(open_ids(), ElementsAre(name));
  EXPECT_EQ(requests()[0].at("body"), body);
  respond({response(name, "code")});
  run.start();
  EXPECT_EQ(answer_to(run, coder), "code");
}

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
                                ":1: status 400: no such  model"));
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
  ASSERT_TRUE(write_file_atomic(folder() / "requests.jsonl", "{\"custom_id\": \"mine\"}\n").ok());
  run.start();
  EXPECT_THAT(answer_to(run, coder), HasSubstr("requests.jsonl:1: this is no request of a run"));
}

TEST_F(BatchTest, AFileWhereTheFolderShouldBeIsAnError) {
  ASSERT_TRUE(write_file_atomic(folder(), "a file").ok());
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
