// `kernelpro mcp` as coding agents start it: a subprocess, lines in and lines out.
#include <cctype>
#include <set>

#include "cli/fixture.hpp"

namespace kernelpro::testing {
namespace {

using ::testing::HasSubstr;

// One server, and the client of it.
class Server {
 public:
  explicit Server(const Command& command) : process_(ChildProcess::start(command)) {
    EXPECT_TRUE(process_.ok()) << process_.error().text();
    (void)ask("initialize", {{"protocolVersion", "2025-11-25"},
                             {"capabilities", Json::object()},
                             {"clientInfo", {{"name", "a test"}, {"version", "1"}}}});
    send({{"jsonrpc", "2.0"}, {"method", "notifications/initialized"}});
  }

  void send(const Json& message) { EXPECT_TRUE(process_->write_line(message.dump()).ok()); }

  Json ask(const std::string& method, const Json& params) {
    send({{"jsonrpc", "2.0"}, {"id", ++id_}, {"method", method}, {"params", params}});
    for (;;) {
      const Result<std::string> line = process_->read_line(120'000);
      EXPECT_TRUE(line.ok()) << line.error().text();
      if (!line.ok()) {
        return Json();
      }
      if (Json message = Json::parse(*line); message.contains("id") && message["id"] == id_) {
        return message;
      }
    }
  }

  // What the tool answers, however long it takes; an error as {"failed": text}.
  Json call(const std::string& tool, const Json& arguments) {
    const Json result = ask("tools/call", {{"name", tool}, {"arguments", arguments}})["result"];
    if (result.value("isError", true)) {
      return {{"failed", result["content"][0]["text"]}};
    }
    Json told = result["structuredContent"];
    if (tool == "job" || !told.contains("job")) {
      return told;
    }
    Json job;
    do {
      job = call("job", {{"id", told["job"]}, {"wait", 45}});
    } while (job["state"] == "working");
    return job.contains("result") ? job["result"] : Json{{"failed", job["error"]}};
  }

  // As an agent does that is closed: its end of the pipe goes.
  bool leave() { return process_->finish(20'000); }
  [[nodiscard]] pid_t pid() const { return process_->pid(); }

 private:
  Result<ChildProcess> process_;
  int id_ = 0;
};

class McpServer : public Cli {
 protected:
  void SetUp() override { copy_task("wave"); }
  [[nodiscard]] Command mcp() const { return command(with_program({"mcp"})); }
  [[nodiscard]] std::string baseline() const {
    return content_of(work() / "tasks" / "wave" / "baseline.cpp");
  }
};

TEST_F(McpServer, ACandidateIsJudgedAndItsCertificateHolds) {
  Server server(mcp());
  const Json done = server.call(
      "evaluate",
      {{"task", "wave"}, {"sources", {baseline(), "int x\nint y;\n"}}, {"mode", "check"}});
  ASSERT_TRUE(done.contains("verdicts")) << done.dump();
  EXPECT_EQ(done["verdicts"][0]["outcome"], "passed");
  EXPECT_TRUE(fs::exists(done["verdicts"][0]["certificate"].get<std::string>()));
  EXPECT_EQ(done["verdicts"][1]["outcome"], "build_failed");
  EXPECT_FALSE(done["verdicts"][1]["evidence"].empty());
  EXPECT_THAT(server.call("evaluate", {{"task", "wave"}, {"sources", {"no.cpp"}}})["failed"]
                  .get<std::string>(),
              HasSubstr("no.cpp"));
  EXPECT_TRUE(server.leave());
}

TEST_F(McpServer, ARunDrivenByAClientIsARunAsAnyOther) {
  std::string run;
  Json proposal;
  {
    Server server(mcp());
    const Json begun = server.call("start_run", {{"task", "wave"}, {"budget", 2}});
    ASSERT_TRUE(begun.contains("run")) << begun.dump();
    run = begun["run"];
    EXPECT_THAT(begun["contract"].get<std::string>(), HasSubstr("kp_launch"));
    proposal = server.call("next_proposal", {{"run", run}});
    ASSERT_TRUE(proposal.contains("proposal")) << proposal.dump();
    EXPECT_THAT(proposal["brief"].get<std::string>(), HasSubstr("Moves that fit"));
    EXPECT_TRUE(server.call("next_proposal", {{"run", run}}).contains("none"));
    ::kill(server.pid(), SIGKILL);
  }
  // The lease outlives the server, and who has lost it can take it over.
  Server server(mcp());
  const Json other = server.call("next_proposal", {{"run", run}, {"take_over", true}});
  EXPECT_EQ(other["node"], proposal["node"]);
  const Json arguments = {{"proposal", proposal["proposal"]},
                          {"plan", "more optimization"},
                          {"source", "// kp:options -O3\n" + baseline()}};
  EXPECT_THAT(server.call("submit", arguments)["failed"].get<std::string>(),
              HasSubstr("given to somebody else"));
  Json mine = arguments;
  mine["proposal"] = other["proposal"];
  mine["move"] = "stronger_flags";
  const Json first = server.call("submit", mine);
  ASSERT_TRUE(first.contains("verdict")) << first.dump();
  EXPECT_EQ(first["verdict"]["outcome"], "passed");
  EXPECT_EQ(first["rank"], 1);
  EXPECT_EQ(server.call("submit", mine)["node"], first["node"]) << "once more changes nothing";

  // What is no candidate costs no evaluation, and says why.
  const Json second = server.call("next_proposal", {{"run", run}});
  const Json refused = server.call("submit", {{"proposal", second["proposal"]},
                                              {"plan", "nothing"},
                                              {"source", "int main() { return 0; }\n"}});
  EXPECT_THAT(refused["fate"].get<std::string>(), HasSubstr("kp_launch")) << refused.dump();
  EXPECT_EQ(refused["summary"]["evaluations"], 1);

  const Json third = server.call("next_proposal", {{"run", run}});
  const Json last = server.call(
      "submit",
      {{"proposal", third["proposal"]},
       {"plan", "wrong on purpose"},
       {"source", "// kp:options -O1\n" + replaced(baseline(), "return 0;", "return 1;")}});
  EXPECT_EQ(last["verdict"]["outcome"], "launch_failed") << last.dump();
  EXPECT_EQ(last["summary"]["state"], "finished");

  // The ordinary commands know it.
  const Json report = json({"report", run}, "cli_report.json", 0);
  EXPECT_EQ(report["state"], "finished");
  EXPECT_EQ(report["evaluations"], 2);
  EXPECT_THAT(kernelpro({"show", run, "1"}).output, HasSubstr("more optimization"));
  EXPECT_THAT(kernelpro({"why", run, "1"}).output, HasSubstr("stronger_flags"));
  EXPECT_THAT(kernelpro({"export", run, "1", "out"}).output, HasSubstr("exported"));
  expect_exit(kernelpro({"resume", run, "-n", "4"}), 4);

  // And the server knows what they did.
  EXPECT_TRUE(server.call("next_proposal", {{"run", run}}).contains("proposal"));
  EXPECT_THAT(server.call("show", {{"run", run}, {"node", 1}, {"part", "source"}})["text"]
                  .get<std::string>(),
              HasSubstr("kp:options -O3"));
  EXPECT_THAT(
      server.call("show", {{"run", run}, {"node", 1}, {"part", "why"}})["text"].get<std::string>(),
      HasSubstr("more optimization"));
  EXPECT_EQ(server.call("show", {{"run", run}})["summary"]["run"], run);
  const Json exported = server.call("export", {{"run", run}, {"node", 1}, {"form", "header"}});
  ASSERT_TRUE(exported.contains("directory")) << exported.dump();
  EXPECT_TRUE(fs::exists(exported["directory"].get<std::string>() + "/README.md"));
  EXPECT_TRUE(server.leave());
}

TEST_F(McpServer, WorkGoesOnWhenItsClientGoesAway) {
  {
    Server server(mcp());
    server.send({{"jsonrpc", "2.0"},
                 {"id", "x"},
                 {"method", "tools/call"},
                 {"params",
                  {{"name", "evaluate"},
                   {"arguments", {{"task", "wave"}, {"sources", {"plain"}}, {"mode", "check"}}}}}});
    // Answered by now: the call before it is being worked on.
    EXPECT_EQ(server.ask("ping", Json::object())["result"], Json::object());
    EXPECT_TRUE(server.leave());
  }
  Server server(mcp());
  const Json jobs = server.call("job", Json::object())["jobs"];
  ASSERT_EQ(jobs.size(), 1U);
  Json job;
  do {
    job = server.call("job", {{"id", jobs[0]["id"]}, {"wait", 45}});
  } while (job["state"] == "working");
  EXPECT_EQ(job["state"], "completed") << job.dump();
  EXPECT_EQ(job["result"]["verdicts"][0]["outcome"], "passed");
}

// Processes that a server started for its jobs.
std::set<pid_t> job_processes(pid_t server) {
  std::set<pid_t> found;
  for (const std::string& name : names_in("/proc")) {
    const fs::path process = fs::path("/proc") / name;
    if (std::isdigit(static_cast<unsigned char>(name.front())) != 0 &&
        state_of(process).parent == server && is_running(process)) {
      found.insert(std::stoi(name));
    }
  }
  return found;
}

TEST_F(McpServer, CandidatesOfOneTaskAreJudgedByOneProcess) {
  Server server(mcp());
  const auto judged = [&](const std::string& comment) {
    const Json done = server.call(
        "evaluate",
        {{"task", "wave"}, {"sources", {"// " + comment + "\n" + baseline()}}, {"mode", "check"}});
    return done.contains("verdicts") ? done["verdicts"][0].value("outcome", "") : done.dump();
  };
  EXPECT_EQ(judged("first"), "passed");
  const std::set<pid_t> first = job_processes(server.pid());
  ASSERT_EQ(first.size(), 1U);
  EXPECT_EQ(judged("second"), "passed");
  EXPECT_EQ(job_processes(server.pid()), first);

  // One that was ended from outside is replaced.
  ASSERT_EQ(::kill(*first.begin(), SIGKILL), 0);
  std::string again;
  for (int tries = 0; tries < 2 && again != "passed"; ++tries) {  // its end may not be known yet
    again = judged("third");
  }
  EXPECT_EQ(again, "passed");
  const std::set<pid_t> second = job_processes(server.pid());
  ASSERT_EQ(second.size(), 1U);
  EXPECT_NE(second, first);

  // It goes with its server, and so does its worker.
  EXPECT_TRUE(server.leave());
  const Deadline deadline(20'000);
  while (!own_processes().empty() && !deadline.passed()) {
    std::this_thread::yield();
  }
  EXPECT_THAT(own_processes(), ::testing::IsEmpty());
}

// Of an evaluation that nobody waits for.
std::string begun_job(Server& server) {
  server.send(
      {{"jsonrpc", "2.0"},
       {"id", "x"},
       {"method", "tools/call"},
       {"params",
        {{"name", "evaluate"}, {"arguments", {{"task", "wave"}, {"sources", {"plain"}}}}}}});
  const Json jobs = server.call("job", Json::object())["jobs"];
  EXPECT_EQ(jobs.size(), 1U);
  return jobs.empty() ? "" : jobs[0].value("id", "");
}

TEST_F(McpServer, AJobWhoseProcessIsEndedFromOutsideIsLostAtOnce) {
  Server server(mcp());
  const std::string id = begun_job(server);
  const Deadline deadline(20'000);
  while (!fs::exists(work() / ".kernelpro" / "jobs" / id / "lock") && !deadline.passed()) {
    std::this_thread::yield();
  }
  const std::set<pid_t> processes = job_processes(server.pid());
  ASSERT_EQ(processes.size(), 1U);
  ASSERT_EQ(::kill(*processes.begin(), SIGKILL), 0);
  const Json job = server.call("job", {{"id", id}, {"wait", 45}});
  EXPECT_EQ(job["state"], "lost") << job.dump();
  EXPECT_TRUE(server.leave());
}

TEST_F(McpServer, AJobEndsWhenItIsCancelled) {
  Server server(mcp());
  const std::string id = begun_job(server);
  const Json job = server.call("job", {{"id", id}, {"cancel", true}, {"wait", 45}});
  EXPECT_EQ(job["state"], "cancelled") << job.dump();
}

TEST_F(McpServer, OneWhoseClientDoesNotReadEndsWhenItIsToldTo) {
  Server server(mcp());
  for (int id = 0; id < 100; ++id) {  // more than a pipe holds
    server.send({{"jsonrpc", "2.0"}, {"id", id}, {"method", "tools/list"}});
  }
  ::kill(server.pid(), SIGTERM);
  EXPECT_TRUE(server.leave());
}

TEST_F(McpServer, ATaskIsMadeOfAFunction) {
  write(work() / "scale.cpp",
        "void scale(const float* x, float* y, int n) {\n"
        "  for (int i = 0; i < n; ++i) {\n    y[i] = 2.5f * x[i];\n  }\n}\n");
  Server server(mcp());
  const Json made = server.call(
      "make_task", {{"file", "scale.cpp"}, {"entry", "scale"}, {"sizes", {{"n", 100000}}}});
  ASSERT_TRUE(made.contains("task")) << made.dump();
  EXPECT_EQ(made["fit"], true) << made.dump();
  const Json done = server.call(
      "evaluate", {{"task", made["task"]}, {"sources", {"scale.cpp"}}, {"mode", "check"}});
  EXPECT_EQ(done["verdicts"][0]["outcome"], "passed") << done.dump();
  EXPECT_THAT(server.call("make_task", {{"file", "scale.cpp"}, {"entry", "other"}})["failed"]
                  .get<std::string>(),
              HasSubstr("other"));
}

}  // namespace
}  // namespace kernelpro::testing
