#include "common/wire/worker_line.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/wire/json.hpp"
#include "common/wire/json_checks.hpp"
#include "common/wire/samples.hpp"
#include "support/schema.hpp"

namespace kernelpro {
namespace {

using testing::error_of;
using ::testing::HasSubstr;
using testing::SchemaFile;
using ::testing::StartsWith;
using json = nlohmann::json;

json body_of(WorkerOp op) {
  const json candidate = to_json(testing::sample_candidate("mine"));
  switch (op) {
    case WorkerOp::open:
      return {{"task", to_json(testing::sample_task())}, {"sandbox", "landlock"}};
    case WorkerOp::evaluate:
      return {{"candidate", candidate}, {"incumbent", candidate}, {"master", std::string(64, 'f')}};
    case WorkerOp::ceilings:
      return {{"refresh", true}};
    default:
      return json::object();
  }
}

TEST(WorkerLine, EveryRequestSurvivesAndIsValid) {
  const SchemaFile schema("worker_request.json");
  for (const WorkerOp op : {WorkerOp::open, WorkerOp::evaluate, WorkerOp::check, WorkerOp::ceilings,
                            WorkerOp::describe, WorkerOp::close}) {
    const Result<std::string> line = request_line(7, op, body_of(op));
    ASSERT_TRUE(line.ok()) << line.error().text();
    EXPECT_EQ(line->find('\n'), line->size() - 1);
    EXPECT_EQ(schema.complaints(json::parse(*line)), "") << name_of(op);
    const Result<WorkerRequest> request = parse_request(*line);
    ASSERT_TRUE(request.ok()) << request.error().text();
    EXPECT_EQ(request->id, 7);
    EXPECT_EQ(request->op, op);
    EXPECT_EQ(*request->body, body_of(op));
  }
}

TEST(WorkerLine, ABodyThatIsNotPartOfTheOpIsNotValid) {
  const SchemaFile schema("worker_request.json");
  const Result<std::string> line = request_line(7, WorkerOp::close, body_of(WorkerOp::evaluate));
  ASSERT_TRUE(line.ok());
  EXPECT_NE(schema.complaints(json::parse(*line)), "");
}

TEST(WorkerLine, AResultSurvivesAndIsValid) {
  const json result = {{"certificate", to_json(testing::sample_certificate())}};
  const Result<std::string> line = reply_line(8, result);
  ASSERT_TRUE(line.ok()) << line.error().text();
  EXPECT_EQ(SchemaFile("worker_reply.json").complaints(json::parse(*line)), "");
  const Result<WorkerMessage> message = parse_worker_message(*line);
  ASSERT_TRUE(message.ok()) << message.error().text();
  const auto* reply = std::get_if<WorkerReply>(&*message);
  ASSERT_NE(reply, nullptr);
  EXPECT_EQ(reply->id, 8);
  ASSERT_TRUE(reply->result.ok());
  EXPECT_EQ(**reply->result, result);
}

TEST(WorkerLine, EveryKindOfErrorSurvivesAndIsValid) {
  const SchemaFile schema("worker_reply.json");
  for (int kind = 0; kind <= static_cast<int>(ErrorKind::internal); ++kind) {
    const Error error = make_error(static_cast<ErrorKind>(kind), "it \"failed\"\n\xff", "here");
    const std::string line = error_line(9, error);
    EXPECT_EQ(line.find('\n'), line.size() - 1);
    EXPECT_EQ(schema.complaints(json::parse(line)), "");
    const Result<WorkerMessage> message = parse_worker_message(line);
    ASSERT_TRUE(message.ok()) << message.error().text();
    const auto* reply = std::get_if<WorkerReply>(&*message);
    ASSERT_NE(reply, nullptr);
    EXPECT_EQ(reply->id, 9);
    ASSERT_FALSE(reply->result.ok());
    EXPECT_EQ(reply->result.error().kind, error.kind);
    EXPECT_EQ(reply->result.error().message, "it \"failed\"\n\xef\xbf\xbd");
    EXPECT_EQ(reply->result.error().context, "here");
  }
}

TEST(WorkerLine, AnEventSurvivesAndIsValid) {
  const std::string line = event_line({10, "smoke", "one shape"});
  EXPECT_EQ(SchemaFile("worker_reply.json").complaints(json::parse(line)), "");
  const Result<WorkerMessage> message = parse_worker_message(line);
  ASSERT_TRUE(message.ok()) << message.error().text();
  const auto* event = std::get_if<WorkerEvent>(&*message);
  ASSERT_NE(event, nullptr);
  EXPECT_EQ(event->id, 10);
  EXPECT_EQ(event->stage, "smoke");
  EXPECT_EQ(event->text, "one shape");
}

TEST(WorkerLine, ARequestOfAnotherVersionIsRefused) {
  EXPECT_EQ(error_of(parse_request(R"({"v":2,"id":1,"op":"fly"})")),
            "/v: a worker line of version 2, expected 1: install the same kernelpro on both sides");
  EXPECT_EQ(error_of(parse_request(R"({"id":1,"op":"close"})")),
            "the whole value: the key \"v\" is missing");
}

TEST(WorkerLine, AnUnknownOpListsTheKnownOnes) {
  EXPECT_EQ(error_of(parse_request(R"({"v":1,"id":1,"op":"fly"})")),
            "/op: found the string \"fly\", expected one of open, build, evaluate, diagnose, "
            "check, ceilings, describe, close");
}

TEST(WorkerLine, ALineThatIsNoObjectIsRefused) {
  EXPECT_EQ(error_of(parse_request("[1]")),
            "the whole value: found an array of 1, expected an object");
  EXPECT_THAT(error_of(parse_request("open")), StartsWith("line 1, column 1: not valid JSON"));
}

TEST(WorkerLine, ALineThatIsTooLongIsRefusedByReaderAndWriter) {
  const std::string text(longest_worker_line, 'x');
  EXPECT_THAT(error_of(parse_request("{\"v\":1,\"id\":1,\"op\":\"" + text + "\"}")),
              HasSubstr("expected at most 67108864 (64 MiB)"));
  EXPECT_THAT(error_of(reply_line(1, {{"text", text}})),
              HasSubstr("expected at most 67108864 (64 MiB): send less at once"));
}

TEST(WorkerLine, ABodyMayNotTouchTheEnvelope) {
  EXPECT_EQ(error_of(request_line(1, WorkerOp::check, {{"id", 2}})),
            "check: the body of a worker request may not have the envelope's key id");
  EXPECT_EQ(error_of(request_line(1, WorkerOp::check, json::array())),
            "check: the body of a worker request must be an object");
  EXPECT_EQ(error_of(reply_line(1, 3)), "the result of a worker request must be an object");
}

TEST(WorkerLine, ARefusalCanBeAddressed) {
  EXPECT_EQ(refused_request_id(R"({"v":1,"id":12,"op":"fly"})"), 12);
  EXPECT_EQ(refused_request_id(R"({"v":1,"id":"x","op":"fly"})"), 0);
  EXPECT_EQ(refused_request_id("[12]"), 0);
  EXPECT_EQ(refused_request_id("{"), 0);
}

class BrokenReply : public ::testing::TestWithParam<std::pair<std::string, std::string>> {};

TEST_P(BrokenReply, MeansThatTheWorkerIsLost) {
  const auto& [line, reason] = GetParam();
  const Result<WorkerMessage> message = parse_worker_message(line);
  ASSERT_FALSE(message.ok());
  EXPECT_EQ(message.error().kind, ErrorKind::lost);
  EXPECT_EQ(message.error().text(),
            "the worker sent a line that is no reply and no event: " + reason);
}

INSTANTIATE_TEST_SUITE_P(
    WorkerLine, BrokenReply,
    ::testing::Values(
        std::pair(R"({"v":3,"id":1,"ok":true,"result":{}})",
                  "/v: a worker line of version 3, expected 1: install the same kernelpro on both "
                  "sides"),
        std::pair(R"({"v":1,"id":1,"ok":true})", "the whole value: the key \"result\" is missing"),
        std::pair(R"({"v":1,"id":1,"ok":true,"result":[]})",
                  "/result: found an array of 0, expected an object"),
        std::pair(R"({"v":1,"id":1,"ok":true,"result":{},"more":1})",
                  "/more: unknown key, expected one of event, id, ok, result, sum, v"),
        std::pair(R"({"v":1,"id":1,"ok":false})", "the whole value: the key \"error\" is missing"),
        std::pair(
            R"({"v":1,"id":1,"ok":false,"error":{"kind":"odd","message":"","context":""}})",
            "/error/kind: found the string \"odd\", expected one of bad_input, environment, io, "
            "busy, lost, timeout, interrupted, internal"),
        std::pair(R"({"v":1,"id":1,"event":"party","stage":"","text":""})",
                  "/event: found the string \"party\", expected one of stage"),
        std::pair("true", "the whole value: found true, expected an object")));

}  // namespace
}  // namespace kernelpro
