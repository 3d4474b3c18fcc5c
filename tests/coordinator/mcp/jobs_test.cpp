// Work that takes its time: as the call that waits for it, as a job and as a task.
#include "coordinator/mcp/jobs.hpp"

#include "coordinator/mcp/session_fixture.hpp"
#include "coordinator/mcp/tools.hpp"

namespace kernelpro::mcp {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

const nlohmann::json unknown_task = {{"task", "no_such_task"}, {"sources", {"a.cpp"}}};

class McpJobs : public SessionTest {
 protected:
  void SetUp() override {
    SessionTest::SetUp();
    initialize();
    sent_.clear();
  }
  void start(const Json& meta_values = Json()) {
    Json params = {{"name", "evaluate"}, {"arguments", unknown_task}};
    if (!meta_values.is_null()) {
      params["_meta"] = meta_values;
    }
    send("tools/call", params);
  }
  void work() {
    const Status done = work_job(jobs_.back(), kept_, {});
    ASSERT_TRUE(done.ok()) << done.error().text();
  }
  [[nodiscard]] std::string job() const { return jobs_.back().filename(); }

  KeptWorker kept_;
};

TEST_F(McpJobs, ACallWaitsForItsWork) {
  start();
  session_->tick();
  EXPECT_TRUE(sent_.empty());
  EXPECT_TRUE(session_->waits());
  work();
  session_->tick();
  ASSERT_THAT(sent_, SizeIs(1));
  EXPECT_EQ(sent_[0]["result"]["isError"], true);
  EXPECT_THAT(sent_[0]["result"]["content"][0]["text"].get<std::string>(),
              HasSubstr("no_such_task"));
  EXPECT_FALSE(session_->waits());
}

TEST_F(McpJobs, WorkThatTakesLongerIsAJobThatAnotherSessionFinds) {
  begin(0);
  initialize();
  sent_.clear();
  start();
  session_->tick();
  ASSERT_THAT(sent_, SizeIs(1));
  EXPECT_EQ(sent_[0]["result"]["structuredContent"]["job"], job());
  begin(0);
  initialize();
  const Json working = call("job", {{"id", job()}})["structuredContent"];
  EXPECT_EQ(working["state"], "working");
  EXPECT_EQ(working["tool"], "evaluate");
  work();
  const Json ended = call("job", {{"id", job()}, {"wait", 45}})["structuredContent"];
  EXPECT_EQ(ended["state"], "failed");
  EXPECT_THAT(ended["error"].get<std::string>(), HasSubstr("no_such_task"));
  EXPECT_THAT(call("job", Json::object())["structuredContent"]["jobs"], SizeIs(1));
}

TEST_F(McpJobs, OnlyWhoAsksCancelsAJob) {
  begin(0);
  initialize();
  start();
  session_->tick();
  EXPECT_FALSE(std::filesystem::exists(jobs_.back() / "cancel"));
  session_ = nullptr;  // the client goes away
  EXPECT_FALSE(std::filesystem::exists(jobs_.back() / "cancel"));
  begin(0);
  initialize();
  call("job", {{"id", job()}, {"cancel", true}});
  EXPECT_TRUE(std::filesystem::exists(jobs_.back() / "cancel"));
}

TEST_F(McpJobs, WhatWasCancelledStaysSo) {
  send("tools/call", {{"name", "evaluate"}, {"arguments", unknown_task}, {"task", {{"ttl", 1}}}});
  sent_.clear();
  EXPECT_EQ(ask("tasks/cancel", {{"taskId", job()}})["result"]["status"], "cancelled");
  EXPECT_EQ(ask("tasks/get", {{"taskId", job()}})["result"]["status"], "cancelled");
  work();
  EXPECT_EQ(ask("tasks/get", {{"taskId", job()}})["result"]["status"], "cancelled");
  EXPECT_EQ(ask("tasks/cancel", {{"taskId", job()}})["error"]["code"], invalid_params);
}

TEST_F(McpJobs, WhatHasEndedCannotBeCancelled) {
  send("tools/call", {{"name", "evaluate"}, {"arguments", unknown_task}, {"task", {{"ttl", 1}}}});
  sent_.clear();
  work();
  EXPECT_EQ(ask("tasks/cancel", {{"taskId", job()}})["error"]["code"], invalid_params);
  EXPECT_EQ(ask("tasks/get", {{"taskId", job()}})["result"]["status"], "failed");
  EXPECT_EQ(call("job", {{"id", job()}, {"cancel", true}})["structuredContent"]["state"], "failed");
}

TEST_F(McpJobs, WhatIsAnsweredAtOnceIsNoTask) {
  EXPECT_EQ(ask("tools/call", {{"name", "list_tasks"},
                               {"arguments", Json::object()},
                               {"task", {{"ttl", 1}}}})["error"]["code"],
            method_not_found);
}

TEST_F(McpJobs, AJobThatCannotBeginLeavesNothing) {
  Jobs jobs(folder_->path() / "other",
            [](const auto&) { return make_error(ErrorKind::environment, "no more processes"); });
  for (int tries = 0; tries < 40; ++tries) {
    const Result<std::string> id = jobs.start("evaluate", unknown_task, "test");
    ASSERT_FALSE(id.ok());
    EXPECT_THAT(id.error().text(), HasSubstr("no more processes"));
  }
  EXPECT_THAT(jobs.latest(), SizeIs(0));
}

TEST_F(McpJobs, ARemoteClientNamesNoFilesOfTheServer) {
  const std::filesystem::path file = folder_->path() / "tokens.txt";
  ASSERT_TRUE(write_file_unsynced(file, "secret of the operator\nint kp_launch();\n").ok());
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder_->path());
  ToolSetting setting;
  setting.store = folder_->path() / "store";
  setting.scratch = folder_->path() / "scratch";
  setting.remote = true;
  const auto told = [&setting](const ToolFunction tool, const Json& arguments) {
    const Result<Json> done = tool(arguments, setting);
    return done ? done->dump() : done.error().text();
  };
  const Json named = {{"task", "axpy"}, {"sources", {"tokens.txt"}}};
  EXPECT_THAT(told(evaluate_tool, named), HasSubstr("expected a whole text, or one of the task's"));
  EXPECT_THAT(told(diagnose_tool, {{"task", "axpy"}, {"source", "tokens.txt"}}),
              HasSubstr("expected a whole text, or one of the task's"));
  for (const auto tool : {evaluate_tool, diagnose_tool, start_run_tool}) {
    EXPECT_THAT(told(tool, {{"task", "tokens.txt"}, {"source", "a\nb\n"}, {"sources", {"a\nb\n"}}}),
                HasSubstr("there is no task, folder or task.toml \"tokens.txt\""));
  }
  std::filesystem::current_path(before);
}

TEST_F(McpJobs, ACancelledCallIsNotAnswered) {
  start();
  session_->take(Json{{"jsonrpc", "2.0"},
                      {"method", "notifications/cancelled"},
                      {"params", {{"requestId", last_id_}}}}
                     .dump());
  EXPECT_TRUE(std::filesystem::exists(jobs_.back() / "cancel"));
  work();
  session_->tick();
  EXPECT_TRUE(sent_.empty());
}

TEST_F(McpJobs, ProgressIsToldToWhoGaveAToken) {
  start({{"progressToken", "p"}});
  ASSERT_TRUE(write_file_unsynced(jobs_.back() / "progress.json",
                                  R"({"message":"judging node 3","done":3,"of":20})")
                  .ok());
  session_->tick();
  session_->tick();
  ASSERT_THAT(sent_, SizeIs(1));
  EXPECT_EQ(sent_[0]["params"], Json({{"progressToken", "p"},
                                      {"progress", 3.0},
                                      {"total", 20.0},
                                      {"message", "judging node 3"}}));
}

TEST_F(McpJobs, WhatIsDoneIsLoggedForWhoAskedForIt) {
  start();
  const auto works = [this](const std::string& message) {
    ASSERT_TRUE(
        write_file_unsynced(jobs_.back() / "progress.json", Json{{"message", message}}.dump())
            .ok());
    session_->tick();
  };
  works("building");
  EXPECT_THAT(sent_, SizeIs(0));
  EXPECT_EQ(ask("logging/setLevel", {{"level", "loud"}})["error"]["code"], invalid_params);
  EXPECT_EQ(ask("logging/setLevel", {{"level", "warning"}})["result"], Json::object());
  works("judging");
  EXPECT_EQ(ask("logging/setLevel", {{"level", "info"}})["result"], Json::object());
  sent_.clear();
  works("judging node 3");
  ASSERT_THAT(sent_, SizeIs(1));
  EXPECT_EQ(sent_[0]["method"], "notifications/message");
  EXPECT_EQ(sent_[0]["params"]["data"], "judging node 3");
}

TEST_F(McpJobs, ATaskOfTheOlderRevisionIsAskedFor) {
  send("tools/call", {{"name", "evaluate"}, {"arguments", unknown_task}, {"task", {{"ttl", 1}}}});
  ASSERT_THAT(sent_, SizeIs(1));
  EXPECT_EQ(sent_[0]["result"]["task"]["taskId"], job());
  EXPECT_EQ(sent_[0]["result"]["task"]["status"], "working");
  sent_.clear();
  send("tasks/result", {{"taskId", job()}});
  session_->tick();
  EXPECT_TRUE(sent_.empty());
  work();
  session_->tick();
  ASSERT_THAT(sent_, SizeIs(1));
  EXPECT_EQ(sent_[0]["result"]["isError"], true);
  EXPECT_EQ(ask("tasks/get", {{"taskId", job()}})["result"]["status"], "failed");
}

TEST_F(McpJobs, ATaskOfTheNewerRevisionIsGivenToWhoTakesIt) {
  begin(0);
  start(with_tasks());
  session_->tick();
  ASSERT_FALSE(sent_.empty());
  EXPECT_EQ(sent_.back()["result"]["resultType"], "task");
  EXPECT_EQ(sent_.back()["result"]["taskId"], job());
  work();
  const Json task = ask("tasks/get", {{"taskId", job()}, {"_meta", with_tasks()}})["result"];
  EXPECT_EQ(task["status"], "completed");
  EXPECT_EQ(task["resultType"], "complete");
  EXPECT_EQ(task["result"]["isError"], true);
  EXPECT_EQ(
      ask("tasks/cancel", {{"taskId", job()}, {"_meta", with_tasks()}})["result"]["resultType"],
      "complete");
}

TEST_F(McpJobs, AJobWhoseFilesAreDamagedEndsNoSession) {
  start();
  for (const char* const text : {"", "[]", "{", R"({"state":5})", R"({"message":[]})", "{}"}) {
    for (const char* const name : {"result.json", "progress.json", "about.json"}) {
      ASSERT_TRUE(write_file_unsynced(jobs_.back() / name, text).ok());
      session_->tick();
      EXPECT_TRUE(call("job", {{"id", job()}}).contains("content"));
    }
  }
}

TEST_F(McpJobs, AnIdThatStillWaitsIsRefused) {
  start();
  --last_id_;
  start();
  ASSERT_THAT(sent_, SizeIs(1));
  EXPECT_EQ(sent_[0]["error"]["code"], invalid_request);
  EXPECT_THAT(jobs_, SizeIs(1));
}

}  // namespace
}  // namespace kernelpro::mcp
