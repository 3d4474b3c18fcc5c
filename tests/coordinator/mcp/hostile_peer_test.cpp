// A client that is greedy or wrong on purpose. That no line is longer than any may be is held by
// the fixture.
#include "coordinator/mcp/session_fixture.hpp"

namespace kernelpro::mcp {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const std::string long_text(100'000, 'x');

class HostilePeer : public SessionTest {
 protected:
  void SetUp() override {
    SessionTest::SetUp();
    initialize();
    sent_.clear();
  }
  static Json evaluation() {
    return {{"name", "evaluate"},
            {"arguments", {{"task", "no_such_task"}, {"sources", {"a.cpp"}}}}};
  }
};

TEST_F(HostilePeer, WhatItSaysIsNotRepeatedAtLength) {
  Json other = meta();
  other["io.modelcontextprotocol/protocolVersion"] = long_text;
  EXPECT_EQ(ask("tools/list", {{"_meta", other}})["error"]["code"], unsupported_version);
  EXPECT_EQ(ask(long_text)["error"]["code"], method_not_found);
  EXPECT_EQ(ask("tools/call", {{"name", long_text}})["error"]["code"], invalid_params);
  EXPECT_EQ(ask("resources/read", {{"uri", long_text}})["error"]["code"], -32002);
  EXPECT_EQ(ask("logging/setLevel", {{"level", long_text}})["error"]["code"], invalid_params);
  EXPECT_EQ(call("evaluate", {{long_text, 1}})["isError"], true);
  const Json prompt =
      ask("prompts/get",
          {{"name", "repair"}, {"arguments", {{"run", long_text}, {"node", long_text}}}})["result"];
  EXPECT_THAT(prompt["messages"][0]["content"]["text"].get<std::string>(), HasSubstr("[cut"));
}

TEST_F(HostilePeer, AVersionThatIsNoTextIsNotRepeated) {
  Json pairs;
  for (int i = 0; i < 20'000; ++i) {
    pairs["a" + std::to_string(i)] = {1, 1};
  }
  for (const Json& version : {pairs, Json({{long_text, 1}}), Json(1), Json()}) {
    Json other = meta();
    other["io.modelcontextprotocol/protocolVersion"] = version;
    EXPECT_EQ(ask("tools/list", {{"_meta", other}})["error"]["code"], unsupported_version);
  }
}

TEST_F(HostilePeer, AnAnswerThatCannotBeShortenedIsAnError) {
  Json keys;
  for (int i = 0; i < 3'000; ++i) {
    keys["key" + std::to_string(i)] = {1, 1};
  }
  const Json answer = Json::parse(bounded_line_of(result_message(7, keys)));
  EXPECT_EQ(answer["error"]["code"], internal_error);
  EXPECT_EQ(answer["id"], 7);
}

TEST_F(HostilePeer, AnIdThatIsTooLongIsNone) {
  const auto with_id = [](const Json& id) {
    return Json{{"jsonrpc", "2.0"}, {"id", id}, {"method", "ping"}}.dump();
  };
  const Json refused = told(with_id(long_text));
  EXPECT_EQ(refused["error"]["code"], invalid_request);
  EXPECT_FALSE(refused.contains("id"));
  for (const Json& id : {Json(std::string(1000, 'i')), Json(18446744073709551615U), Json(-1),
                         Json(0), Json(""), Json("\xc3\xa9")}) {
    EXPECT_EQ(told(with_id(id))["id"], id);
  }
  for (const char* const id : {"1e400", "1e3", "{}", "[]", "true", "123456789012345678901234567"}) {
    const Json answer = told(R"({"jsonrpc":"2.0","method":"ping","id":)" + std::string(id) + "}");
    EXPECT_TRUE(answer.contains("error")) << id;
    EXPECT_FALSE(answer.contains("id")) << id;
  }
}

TEST_F(HostilePeer, ATokenOfProgressIsATextOrANumber) {
  for (const Json& token : {Json(long_text), Json::object(), Json({1, 2}), Json(1.5), Json()}) {
    Json params = evaluation();
    params["_meta"] = {{"progressToken", token}};
    send("tools/call", params);
    ASSERT_TRUE(
        write_file_unsynced(jobs_.back() / "progress.json", R"({"message":"judging"})").ok());
    session_->tick();
    EXPECT_THAT(sent_, IsEmpty()) << token.dump().substr(0, 100);
    ASSERT_TRUE(write_file_unsynced(jobs_.back() / "result.json", R"({"state":"completed"})").ok());
    session_->tick();
    sent_.clear();
  }
}

TEST_F(HostilePeer, WhatIsNotOfferedIsNoMethod) {
  for (const char* const method : {"tasks/list", "tasks/update", "tasks/", "resources/subscribe",
                                   "roots/list", "sampling/createMessage"}) {
    EXPECT_EQ(ask(method, {{"taskId", "0"}})["error"]["code"], method_not_found) << method;
  }
  EXPECT_EQ(ask("tasks/result", {{"taskId", "0"}, {"_meta", meta()}})["error"]["code"],
            method_not_found);
}

TEST_F(HostilePeer, ACursorThatWasNeverGivenIsRefused) {
  for (const char* const method :
       {"tools/list", "resources/list", "resources/templates/list", "prompts/list"}) {
    EXPECT_EQ(ask(method, {{"cursor", "2"}})["error"]["code"], invalid_params) << method;
    EXPECT_TRUE(ask(method).contains("result")) << method;
  }
}

TEST_F(HostilePeer, WhatStandsInAnArgumentOfAPromptStays) {
  const Json prompt =
      ask("prompts/get",
          {{"name", "repair"}, {"arguments", {{"run", "{{node}}"}, {"node", "{{run}}"}}}});
  EXPECT_THAT(prompt["result"]["messages"][0]["content"]["text"].get<std::string>(),
              HasSubstr("Node {{run}} of run {{node}} failed"));
}

TEST_F(HostilePeer, WhatWaitsIsBounded) {
  send("tools/call", evaluation());
  const std::string job = jobs_.back().filename();
  for (int i = 1; i < 100; ++i) {
    send("tasks/result", {{"taskId", job}});
  }
  EXPECT_THAT(sent_, IsEmpty());
  EXPECT_THAT(ask("ping")["error"]["message"].get<std::string>(), HasSubstr("too many requests"));
  session_->take(Json{{"jsonrpc", "2.0"},
                      {"method", "notifications/cancelled"},
                      {"params", {{"requestId", last_id_ - 1}}}}
                     .dump());
  EXPECT_EQ(ask("ping")["result"], Json::object());
}

TEST_F(HostilePeer, WhoIsForgottenIsNotAnsweredAndItsWorkGoesOn) {
  send("tools/call", evaluation());
  session_->forget(last_id_);
  EXPECT_FALSE(session_->waits());
  EXPECT_FALSE(std::filesystem::exists(jobs_.back() / "cancel"));
}

TEST_F(HostilePeer, JobsThatWorkAtATimeAreBounded) {
  begin(0);
  initialize();
  for (int i = 0; i < 32; ++i) {
    send("tools/call", evaluation());
    session_->tick();
  }
  ASSERT_THAT(jobs_, SizeIs(32));
  const Json refused = ask("tools/call", evaluation())["result"];
  EXPECT_EQ(refused["isError"], true);
  EXPECT_THAT(refused["content"][0]["text"].get<std::string>(),
              HasSubstr("32 jobs are being worked on already"));
  ASSERT_TRUE(write_file_unsynced(jobs_.front() / "result.json", R"({"state":"completed"})").ok());
  send("tools/call", evaluation());
  EXPECT_THAT(jobs_, SizeIs(33));
}

TEST_F(HostilePeer, AClockThatWasSetBackLetsNoLostJobWork) {
  begin(0);
  initialize();
  send("tools/call", evaluation());
  session_->tick();
  const std::string job = jobs_.back().filename();
  EXPECT_EQ(call("job", {{"id", job}})["structuredContent"]["state"], "working");
  std::filesystem::last_write_time(
      jobs_.back() / "request.json",
      std::filesystem::file_time_type::clock::now() + std::chrono::hours(5));
  EXPECT_EQ(call("job", {{"id", job}})["structuredContent"]["state"], "lost");
}

}  // namespace
}  // namespace kernelpro::mcp
