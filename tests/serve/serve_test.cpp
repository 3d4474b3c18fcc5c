// `kernelpro serve` as others reach it: a process, and requests over HTTP.
#include <csignal>
#include <thread>

#include "cli/fixture.hpp"
#include "support/http_client.hpp"

namespace kernelpro::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class Service : public Cli {
 protected:
  void SetUp() override { copy_task("wave"); }
  void TearDown() override { end(SIGTERM); }

  void begin(Words more = {}) {
    Words words = with_program({"serve", "--port", "0"});
    words.insert(words.end(), more.begin(), more.end());
    Command wanted = command(words);
    wanted.timeout_ms = 0;
    process_.emplace(ChildProcess::start(wanted));
    ASSERT_TRUE(process_->ok()) << process_->error().text();
    const Result<std::string> line = (**process_).read_line(60'000);
    ASSERT_TRUE(line.ok()) << line.error().text();
    ASSERT_THAT(*line, StartsWith("serving at http://127.0.0.1:"));
    port_ = std::stoi(line->substr(line->rfind(':') + 1));
  }
  // One that has ended already has no id any more, and a signal to -1 would go to everybody.
  void end(int signal) {
    const pid_t pid = process_ && process_->ok() ? (**process_).pid() : -1;
    if (pid > 0) {
      EXPECT_EQ(::kill(pid, signal), 0);
      (void)(**process_).finish(60'000);
    }
    process_.reset();
  }

  // The JSON of an answer of that status.
  Json ask(const std::string& method, const std::string& target, const Json& body, int status,
           const std::map<std::string, std::string>& headers = {}) {
    const HttpAnswer answer =
        http(port_, method, target, body.is_null() ? "" : body.dump(), headers);
    EXPECT_EQ(answer.status, status) << method << " " << target << "\n" << answer.body;
    return Json::parse(answer.body, nullptr, false);
  }
  // How it stands when it is done.
  Json result(const std::string& id) {
    for (;;) {
      Json standing = ask("GET", "/v1/results/" + id + "?wait=30", Json(), 200);
      if (standing["state"] == "done" || !standing.contains("state")) {
        return standing;
      }
    }
  }
  [[nodiscard]] Json evaluation(const std::string& source, const std::string& name = "mine") const {
    return {{"task", "wave"}, {"source", source}, {"mode", "check"}, {"name", name}};
  }
  [[nodiscard]] std::string baseline() const {
    return content_of(work() / "tasks" / "wave" / "baseline.cpp");
  }

  std::optional<Result<ChildProcess>> process_;
  int port_ = 0;
};

TEST_F(Service, CandidatesAreJudgedAndEqualOnesGetTheStoredVerdict) {
  begin();
  EXPECT_EQ(ask("GET", "/healthz", Json(), 200)["status"], "ok");
  const Json sent = ask(
      "POST", "/v1/evaluate",
      {{"evaluations",
        {evaluation(baseline()), evaluation("int x\nint y;\n"), evaluation(baseline(), "again")}}},
      202);
  const Json passed = result(sent["results"][0]["id"]);
  EXPECT_EQ(passed["result"]["verdict"]["outcome"], "passed") << passed.dump();
  EXPECT_EQ(passed["result"]["reward"]["value"], 1);
  EXPECT_EQ(passed["attempts"], 1);
  const Json failed = result(sent["results"][1]["id"]);
  EXPECT_EQ(failed["result"]["verdict"]["outcome"], "build_failed");
  EXPECT_EQ(failed["result"]["reward"]["value"], 0);
  const Json equal = result(sent["results"][2]["id"]);
  EXPECT_EQ(equal["result"]["stored"], true);
  EXPECT_EQ(equal["result"]["stored_from"], passed["id"]);
  EXPECT_EQ(SchemaFile("certificate.json")
                .complaints(ask("GET", "/v1/results/" + std::string(passed["id"]) + "/certificate",
                                Json(), 200)),
            "");
  const HttpAnswer metrics = http(port_, "GET", "/metrics");
  EXPECT_THAT(metrics.body, HasSubstr("kernelpro_results_total{outcome=\"passed\"} 1\n"));
  EXPECT_THAT(metrics.body, HasSubstr("kernelpro_stored_total 1\n"));
}

TEST_F(Service, EveryAcceptedRequestHasOneResultAcrossKills) {
  constexpr int clients = 8;
  begin();
  std::vector<std::string> ids;
  for (int kill = 0; kill < 3; ++kill) {
    for (int i = 0; i < clients; ++i) {
      const std::string name = "c" + std::to_string(kill) + "_" + std::to_string(i);
      const Json sent = ask("POST", "/v1/evaluate", evaluation("int " + name + "\nint y;\n", name),
                            202, {{"Idempotency-Key", name}});
      ids.push_back(sent["results"][0]["id"]);
    }
    end(SIGKILL);
    begin();
  }
  for (const std::string& id : ids) {
    const Json standing = result(id);
    EXPECT_EQ(standing["result"]["verdict"]["outcome"], "build_failed") << standing.dump();
    EXPECT_LE(standing["attempts"], 3);
  }
  const Json again = ask("POST", "/v1/evaluate", evaluation("int c0_0\nint y;\n", "c0_0"), 200,
                         {{"Idempotency-Key", "c0_0"}});
  EXPECT_EQ(again["results"][0]["id"], ids.front());
  EXPECT_THAT(http(port_, "GET", "/metrics").body, HasSubstr("kernelpro_work_open 0\n"));
}

TEST_F(Service, WhatIsWrongIsRefusedByWhatIsWrongWithIt) {
  begin({"--queue", "4", "--client-queue", "2"});
  EXPECT_EQ(http(port_, "POST", "/v1/evaluate", "{\"task\": ").status, 400);
  const auto refused = [this](const Json& body, const std::string& why) {
    EXPECT_THAT(ask("POST", "/v1/evaluate", body, 422)["error"].get<std::string>(), HasSubstr(why));
  };
  refused({{"task", "wave"}}, "expected the whole text of a source");
  refused({{"task", "../../etc"}, {"source", "a\nb"}}, "there is no task of that name");
  refused({{"task", "tasks/wave"}, {"source", "a\nb"}}, "there is no task of that name");
  refused({{"task", "wave"}, {"source", "/etc/passwd"}}, "expected the whole text of a source");
  refused({{"task", "wave"}, {"source", "a\nb"}, {"language", "triton"}},
          "sources in \"triton\" are not judged here");
  refused({{"task", "wave"}, {"source", "a\nb"}, {"turbo", true}}, "there is no \"turbo\"");
  Json many = {{"evaluations", Json::array()}};
  for (int i = 0; i < 3; ++i) {
    many["evaluations"].push_back(evaluation("int\n" + std::to_string(i)));
  }
  const HttpAnswer full = http(port_, "POST", "/v1/evaluate", many.dump());
  EXPECT_EQ(full.status, 429);
  EXPECT_THAT(full.head, HasSubstr("Retry-After: "));
  EXPECT_EQ(http(port_, "POST", "/v1/evaluate", "", {{"Content-Length", "99999999"}}).status, 413);
  EXPECT_EQ(http(port_, "GET", "/v1/runs/..%2f..%2fetc").status, 404);
  EXPECT_EQ(http(port_, "GET", "/v1/results/..%2fx").status, 404);
  EXPECT_EQ(http(port_, "GET", "/../etc/passwd").status, 404);
  EXPECT_EQ(http(port_, "DELETE", "/v1/tasks").status, 405);
  EXPECT_EQ(http(port_, "GET", "/healthz", "", {{"Host", "evil.example"}}).status, 403);
  EXPECT_EQ(http(port_, "GET", "/v1/tasks", "", {{"Origin", "http://evil.example"}}).status, 403);
  EXPECT_EQ(ask("POST", "/v1/diagnose", {{"program", {"/bin/true"}}}, 403).size(), 1U);
  EXPECT_EQ(ask("POST", "/v1/drain", Json(), 403).size(), 1U);
}

TEST_F(Service, OthersNeedATokenAndDrainingNeedsThatOfAnAdmin) {
  const Finished open = kernelpro({"serve", "--listen", "0.0.0.0", "--port", "0"});
  EXPECT_EQ(open.exit_code, 2);
  EXPECT_THAT(open.errors, HasSubstr("--tokens FILE is needed"));
  ASSERT_TRUE(
      write_file_unsynced(work() / "tokens", "ann 0123456789abcdef\nroot fedcba9876543210 admin\n")
          .ok());
  begin({"--tokens", "tokens"});
  EXPECT_EQ(http(port_, "GET", "/v1/tasks").status, 401);
  EXPECT_EQ(http(port_, "GET", "/v1/tasks", "", {{"Authorization", "Bearer wrong"}}).status, 401);
  EXPECT_EQ(http(port_, "GET", "/healthz").status, 200);
  const std::map<std::string, std::string> ann = {{"Authorization", "Bearer 0123456789abcdef"}};
  const std::map<std::string, std::string> root = {{"Authorization", "Bearer fedcba9876543210"}};
  const Json sent = ask("POST", "/v1/evaluate?wait=60", evaluation("int\n"), 200, ann);
  const std::string place = "/v1/results/" + std::string(sent["results"][0]["id"]);
  EXPECT_EQ(http(port_, "GET", place, "", ann).status, 200);
  EXPECT_EQ(http(port_, "GET", place, "", root).status, 200);
  EXPECT_EQ(http(port_, "POST", "/v1/drain", "", ann).status, 403);
  EXPECT_EQ(ask("POST", "/v1/drain", Json(), 202, root)["status"], "draining");
  EXPECT_TRUE((**process_).finish(60'000));
}

TEST_F(Service, WhoListenedToAnEarlierLifeHearsAllOfThisOne) {
  begin();
  const auto told = [this](const std::string& last_id) {
    const UniqueFd socket = connect_to(port_);
    const std::string asked =
        "GET /v1/events HTTP/1.1\r\nHost: localhost\r\nLast-Event-ID: " + last_id + "\r\n\r\n";
    (void)::send(socket.get(), asked.data(), asked.size(), MSG_NOSIGNAL);
    std::string all;
    std::array<char, 65536> piece;
    for (ssize_t got = 0; all.find("event: done") == std::string::npos &&
                          (got = ::recv(socket.get(), piece.data(), piece.size(), 0)) > 0;) {
      all.append(piece.data(), static_cast<std::size_t>(got));
    }
    const std::size_t at = all.rfind("id: ", all.find("event: done"));
    return at == std::string::npos ? "" : all.substr(at + 4, all.find('\n', at) - at - 4);
  };
  for (const char* const source : {"int\n1", "int\n2"}) {
    ask("POST", "/v1/evaluate?wait=60", evaluation(source), 200);
  }
  const std::string first = told("0");
  const std::string second = told(first);
  EXPECT_NE(first, second);
  end(SIGKILL);
  begin();
  ask("POST", "/v1/evaluate?wait=60", evaluation("int\n3"), 200);
  EXPECT_NE(told(second), second);
}

TEST_F(Service, TheClientInPythonGivesRewards) {
  begin();
  write(work() / "good.cpp", baseline());
  write(work() / "bad.cpp", "int x\nint y;\n");
  write(work() / "all.py", R"(import sys
from kernelpro import Client, Environment, ServiceError

client = Client(sys.argv[1])
good, bad = open("good.cpp").read(), open("bad.cpp").read()
wishes = {"task": "wave", "mode": "check"}
results = client.evaluate_many([{**wishes, "source": good}, {**wishes, "source": bad}])
assert [one.verdict.outcome for one in results] == ["passed", "build_failed"], results
assert [one.reward.value for one in results] == [1, 0], results
assert client.certificate(results[0].id)["task"]["name"] == "wave"
assert client.evaluate("wave", good, mode="check").stored
assert "class" in client.diagnose("wave", good)["diagnosis"]
try:
    client.evaluate("no_such_task", good)
    raise SystemExit("an unknown task was judged")
except ServiceError as error:
    assert error.status == 422, error
try:
    client.evaluate("wave", "x" * 9_000_000)
    raise SystemExit("a body that is too large was judged")
except ServiceError as error:
    assert error.status == 413, error
environment = Environment(client, "wave", steps=1, mode="check")
environment.reset()
step = environment.step(bad)
assert step.reward == 0 and step.truncated and not step.as_tuple()[4]["masked"], step
print("all of it")
)");
  set("PYTHONPATH", KERNELPRO_SOURCE_DIR "/python");
  const std::string url = "http://127.0.0.1:" + std::to_string(port_);
  const Finished all = run_to_end(command({"/usr/bin/env", "python3", "all.py", url}));
  EXPECT_EQ(all.output, "all of it\n") << all.errors;
  const Finished example =
      run_to_end(command({"/usr/bin/env", "python3", KERNELPRO_SOURCE_DIR "/python/example.py", url,
                          "wave", "good.cpp", "bad.cpp"}));
  EXPECT_THAT(example.output, HasSubstr("good.cpp: reward 1.0: passed"));
  EXPECT_THAT(example.output, HasSubstr("bad.cpp: reward 0.0: build_failed"));
}

TEST_F(Service, TheDescriptionNamesEveryPathAndItsAnswers) {
  begin();
  const Json description = ask("GET", "/openapi.json", Json(), 200);
  for (const auto& [path, methods] : description["paths"].items()) {
    std::string target = path;
    for (const char* const hole : {"{id}", "{run}", "{node}"}) {
      if (const std::size_t place = target.find(hole); place != std::string::npos) {
        target.replace(place, std::string(hole).size(), "1");
      }
    }
    if (target == "/v1/events") {
      continue;  // it does not end
    }
    for (const auto& [method, operation] : methods.items()) {
      const HttpAnswer answer = http(port_, method == "get" ? "GET" : "POST", target, "{}");
      EXPECT_TRUE(operation["responses"].contains(std::to_string(answer.status)) ||
                  target == "/mcp")
          << method << " " << target << " answers " << answer.status;
    }
  }
  EXPECT_EQ(http(port_, "GET", "/v1/unknown").status, 404);
}

TEST_F(Service, AgentsReachTheToolsWithoutFilesOfThisMachine) {
  begin();
  const auto call = [this](const std::string& tool, const Json& arguments) {
    const Json meta = {{"io.modelcontextprotocol/protocolVersion", "2026-07-28"},
                       {"io.modelcontextprotocol/clientCapabilities", Json::object()}};
    return ask("POST", "/mcp",
               {{"jsonrpc", "2.0"},
                {"id", 1},
                {"method", "tools/call"},
                {"params", {{"name", tool}, {"arguments", arguments}, {"_meta", meta}}}},
               200,
               {{"MCP-Protocol-Version", "2026-07-28"},
                {"Mcp-Method", "tools/call"},
                {"Mcp-Name", tool}})["result"];
  };
  EXPECT_EQ(call("list_tasks", {{"query", "wave"}})["structuredContent"]["tasks"][0]["name"],
            "wave");
  for (const Json& wrong : {Json{{"task", "wave"}, {"sources", {"/etc/passwd"}}},
                            Json{{"task", "/tmp/task"}, {"sources", {"a\nb"}}}}) {
    EXPECT_EQ(call("evaluate", wrong)["isError"], true) << wrong.dump();
  }
  const Json made = call("make_task", {{"file", "a.cpp"}, {"entry", "f"}});
  EXPECT_THAT(made["content"][0]["text"].get<std::string>(), HasSubstr("token of an admin"));
}

}  // namespace
}  // namespace kernelpro::testing
