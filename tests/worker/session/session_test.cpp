// A real kernelpro-worker over its pipes, line by line.
#include <gmock/gmock.h>
#include <signal.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/base/process.hpp"
#include "common/wire/orders_json.hpp"
#include "support/leftovers.hpp"
#include "support/schema.hpp"
#include "support/small_task.hpp"

namespace kernelpro {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using namespace kernelpro::testing;

constexpr std::int64_t patience_ms =
    600'000;  // it may wait for the machine's lock, on a busy machine

class WorkerSession : public ::testing::Test {
 protected:
  void SetUp() override {
    Command command;
    command.arguments = {KERNELPRO_BIN_DIR "/kernelpro-worker"};
    command.inherit_environment = true;
    Result<ChildProcess> started = ChildProcess::start(command);
    ASSERT_TRUE(started) << started.error().text();
    worker_.emplace(std::move(*started));
  }

  void TearDown() override {
    worker_->finish(patience_ms);
    EXPECT_THAT(own_processes(), IsEmpty());
    EXPECT_THAT(names_in(environment_.scratch()), IsEmpty()) << "scratch folders are left";
  }

  void send_line(const std::string& line) {
    const Status sent = worker_->write_line(line);
    ASSERT_TRUE(sent) << sent.error().text();
  }

  // Sends a request that the schema accepts.
  void send(const std::string& op, json body = json::object()) {
    body.update({{"v", 1}, {"id", ++id_}, {"op", op}});
    EXPECT_EQ(request_schema_.complaints(body), "") << op;
    send_line(body.dump());
  }

  // The next line, which the schema accepts.
  json next() {
    const Result<std::string> line = worker_->read_line(patience_ms);
    if (!line) {
      ADD_FAILURE() << line.error().text();
      return json::object();
    }
    json message = json::parse(*line);
    EXPECT_EQ(reply_schema_.complaints(message), "") << *line;
    return message;
  }

  // The reply to the last request; the stages on the way are kept.
  json reply() {
    stages_.clear();
    for (;;) {
      json message = next();
      if (!message.contains("event")) {
        return message;
      }
      EXPECT_EQ(message["id"], id_);
      stages_.push_back(message["stage"]);
    }
  }

  json result_of(const std::string& op, json body = json::object()) {
    send(op, std::move(body));
    json answer = reply();
    EXPECT_EQ(answer.value("id", -1), id_);
    EXPECT_TRUE(answer.value("ok", false)) << answer.dump();
    return answer.value("result", json::object());
  }

  // "kind: context: message" of a refusal.
  std::string refusal() {
    const json answer = reply();
    EXPECT_FALSE(answer.value("ok", true)) << answer.dump();
    const json error = answer.value("error", json::object());
    return error.value("kind", "") + ": " + error.value("context", "") + ": " +
           error.value("message", "");
  }

  std::string refusal_of_line(const std::string& line) {
    send_line(line);
    return refusal();
  }

  void open_small_task() {
    OpenOrder order;
    order.task = small_task();
    order.judging.timing_seconds = 0.1;
    opened_ = result_of("open", to_json(order));
  }

  static json evaluate_body(const std::string& source) {
    EvaluateOrder order;
    order.candidate = small_candidate(source);
    return to_json(order);
  }

  WorkerEnvironment environment_;
  SchemaFile request_schema_{"worker_request.json"};
  SchemaFile reply_schema_{"worker_reply.json"};
  std::optional<ChildProcess> worker_;
  std::int64_t id_ = 0;
  std::vector<std::string> stages_;
  json opened_;
};

TEST_F(WorkerSession, DescribesTheMachineAndItsCompilers) {
  const Result<WorkerDescription> description = description_from_json(result_of("describe"));
  ASSERT_TRUE(description) << description.error().text();
  EXPECT_EQ(description->version, KERNELPRO_VERSION);
  EXPECT_GE(description->machine.cores, 1);
  EXPECT_FALSE(description->compilers.empty());
  for (const Problem& problem : description->problems) {
    EXPECT_FALSE(problem.remedy.empty()) << problem.what;
  }
}

TEST_F(WorkerSession, MeasuresCeilingsOnceAndKeepsThem) {
  const json first = result_of("ceilings");
  EXPECT_EQ(SchemaFile("ceilings.json").complaints(first), "");
  EXPECT_EQ(result_of("ceilings", {{"refresh", false}}), first);
}

TEST_F(WorkerSession, JudgesSeveralCandidatesOfOneOpenTask) {
  open_small_task();
  const Result<Opened> opened = opened_from_json(opened_);
  ASSERT_TRUE(opened) << opened.error().text();
  ASSERT_EQ(opened->shapes.size(), 1U);
  EXPECT_EQ(opened->shapes[0].shape, (Axes{{"n", 20'000}}));
  EXPECT_GT(opened->shapes[0].baseline_ns, 0);
  EXPECT_GE(opened->shapes[0].calls, 1);
  EXPECT_THAT(opened->findings, IsEmpty());

  const Result<Evaluated> right =
      evaluated_from_json(result_of("evaluate", evaluate_body(small_source("y[i] + x[i]"))));
  ASSERT_TRUE(right) << right.error().text();
  EXPECT_EQ(right->certificate.verdict.outcome, Outcome::passed)
      << right->certificate.verdict.summary;
  EXPECT_EQ(right->certificate.task_hash, opened->task_hash);
  EXPECT_EQ(right->certificate.sandbox, "landlock");
  EXPECT_EQ(stages_.front(), "build");
  EXPECT_EQ(stages_.back(), "timing");

  const Result<Evaluated> wrong =
      evaluated_from_json(result_of("evaluate", evaluate_body(small_source("x[i] - y[i]"))));
  ASSERT_TRUE(wrong) << wrong.error().text();
  EXPECT_EQ(wrong->certificate.verdict.outcome, Outcome::incorrect);
  EXPECT_FALSE(wrong->certificate.master == right->certificate.master);
}

TEST_F(WorkerSession, JudgesAnImplementationOfTheTaskByName) {
  open_small_task();
  const json answer = result_of("evaluate", {{"implementation", "naive"}, {"timed", false}});
  EXPECT_EQ(SchemaFile("certificate.json").complaints(answer["certificate"]), "");
  EXPECT_EQ(answer["certificate"]["verdict"]["outcome"], "passed");
  EXPECT_EQ(answer["certificate"]["verdict"]["timing"]["comparison"], "not_timed");

  send("evaluate", {{"implementation", "fastest"}});
  EXPECT_EQ(refusal(),
            "bad_input: small: the task has no implementation \"fastest\"; it has: naive");
}

TEST_F(WorkerSession, BuildsAheadSoThatTheEvaluationFindsTheBuildDone) {
  open_small_task();
  const Candidate candidate = small_candidate(
      small_source("x[i] + y[i]", "", "// " + environment_.scratch().filename().string()));
  EXPECT_EQ(result_of("build", to_json(BuildOrder{{candidate}}))["built"][0]["ok"], true);
  EvaluateOrder order;
  order.candidate = candidate;
  order.timed = false;
  const json answer = result_of("evaluate", to_json(order));
  EXPECT_EQ(answer["certificate"]["verdict"]["outcome"], "passed");
  EXPECT_EQ(answer["certificate"]["verdict"]["build_ns"], 0);
}

TEST_F(WorkerSession, ChecksTheOpenTask) {
  open_small_task();
  const Result<LintFindings> read = findings_from_json(result_of("check"));
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_FALSE(read->findings.empty());
  for (const LintFinding& finding : read->findings) {
    EXPECT_NE(finding.level, LintLevel::error) << finding.rule << ": " << finding.text;
  }
}

TEST_F(WorkerSession, ForgetsTheTaskWhenItIsClosed) {
  open_small_task();
  EXPECT_EQ(result_of("close"), json::object());
  EXPECT_THAT(own_processes(), ::testing::SizeIs(1)) << "runners of a closed task are left";
  send("check");
  EXPECT_EQ(refusal(), "bad_input: : no task is open: send `open` first");
}

TEST_F(WorkerSession, RefusesWhatNeedsAnOpenTask) {
  const std::string nothing_open = "bad_input: : no task is open: send `open` first";
  send("evaluate", evaluate_body("int x;"));
  EXPECT_EQ(refusal(), nothing_open);
  send("check");
  EXPECT_EQ(refusal(), nothing_open);
  send("build", to_json(BuildOrder{}));
  EXPECT_EQ(refusal(), nothing_open);
}

TEST_F(WorkerSession, AnswersLinesThatAreNoRequestsAndGoesOn) {
  EXPECT_THAT(refusal_of_line("garbage"), HasSubstr("bad_input"));
  EXPECT_THAT(refusal_of_line("[1, 2]"), HasSubstr("bad_input"));
  EXPECT_THAT(refusal_of_line(std::string("\xff\xfe{}")), HasSubstr("bad_input"));
  EXPECT_THAT(refusal_of_line(R"({"v":2,"id":5,"op":"describe"})"),
              AllOf(HasSubstr("bad_input"), HasSubstr("version")));
  EXPECT_THAT(refusal_of_line(R"({"v":1,"id":5,"op":"dance"})"), HasSubstr("dance"));
  EXPECT_THAT(refusal_of_line(R"({"v":1,"op":"describe"})"), HasSubstr("id"));
  send_line("");  // an empty line is no request and gets no answer
  EXPECT_TRUE(result_of("describe").contains("compilers"));
}

TEST_F(WorkerSession, AddressesARefusalToTheIdOfItsLine) {
  send_line(R"({"v":1,"id":41,"op":"dance"})");
  EXPECT_EQ(next()["id"], 41);
  send_line("garbage");
  EXPECT_EQ(next()["id"], 0);
}

TEST_F(WorkerSession, RefusesKeysItDoesNotKnow) {
  EXPECT_THAT(refusal_of_line(R"({"v":1,"id":1,"op":"ceilings","fresh":true})"),
              HasSubstr("/fresh: unknown key, expected one of backend, device, refresh"));
  OpenOrder order;
  order.task = small_task();
  json body = to_json(order);
  body.update({{"v", 1}, {"id", 2}, {"op", "open"}, {"speed", 3}});
  EXPECT_THAT(refusal_of_line(body.dump()), AllOf(HasSubstr("bad_input"), HasSubstr("speed")));
}

TEST_F(WorkerSession, RefusesATaskWhoseReferenceDoesNotCompile) {
  OpenOrder order;
  order.task = small_task();
  order.task.files["reference.hpp"] = "this is not C++";
  send("open", to_json(order));
  EXPECT_THAT(refusal(), AllOf(HasSubstr("bad_input: reference.hpp: "),
                               HasSubstr("the reference does not compile"), HasSubstr("error:")));
}

TEST_F(WorkerSession, EndsSoonAfterSigtermInTheMiddleOfAnEvaluation) {
  open_small_task();
  send("evaluate", evaluate_body(small_source("x[i] + y[i]")));
  while (next().value("stage", "") != "held_out") {
  }
  ASSERT_EQ(kill(worker_->pid(), SIGTERM), 0);
  EXPECT_EQ(refusal(), "interrupted: : the evaluation was interrupted");
  const Result<std::string> after = worker_->read_line(patience_ms);
  ASSERT_FALSE(after) << *after;
  EXPECT_EQ(after.error().kind, ErrorKind::lost) << after.error().text();
  EXPECT_THAT(after.error().message, HasSubstr("ended with exit code 0"));
}

TEST_F(WorkerSession, EndsWhenItsInputEnds) {
  open_small_task();
  worker_->finish(patience_ms);
  EXPECT_THAT(own_processes(), IsEmpty());
}

}  // namespace
}  // namespace kernelpro
