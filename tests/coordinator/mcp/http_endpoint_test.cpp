// The endpoint behind a real server, asked by clients that are sockets.
#include "coordinator/mcp/http_endpoint.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "common/base/file.hpp"
#include "coordinator/http/server.hpp"
#include "coordinator/mcp/rpc.hpp"
#include "support/http_client.hpp"
#include "worker/profile/mutate.hpp"

namespace kernelpro::mcp {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using Json = nlohmann::json;
using testing::http;
using testing::HttpAnswer;
using Headers = std::map<std::string, std::string>;

// Everybody is let in, under the name that a header gives.
class Mounted : public http::Handler {
 public:
  explicit Mounted(SessionSettings settings) : endpoint_(std::move(settings)) {}
  void take(const std::shared_ptr<http::Exchange>& exchange) override {
    endpoint_.take(exchange, {exchange->request().header("x-caller"), false});
  }
  int tick() override { return std::min(endpoint_.tick(), 5); }

 private:
  HttpEndpoint endpoint_;
};

class EndpointTest : public ::testing::Test {
 protected:
  void begin(std::int64_t patience_ms) {
    handler_ =
        std::make_unique<Mounted>(SessionSettings{.store = folder_->path() / "store",
                                                  .launch = [](const auto&) { return Status(); },
                                                  .patience_ms = patience_ms});
    Result<std::unique_ptr<http::Server>> made = http::Server::listen({});
    ASSERT_TRUE(made.ok()) << made.error().text();
    server_ = std::move(*made);
    thread_ = std::jthread([this](const std::stop_token& stop) { server_->run(*handler_, stop); });
  }
  [[nodiscard]] int port() const { return server_->port(); }

  HttpAnswer post(const Json& message, Headers headers = {}) {
    headers.try_emplace("X-Caller", "ann");
    return http(port(), "POST", "/mcp", message.dump(), headers);
  }
  static Json request(const std::string& method, const Json& params = Json::object()) {
    return {{"jsonrpc", "2.0"}, {"id", 1}, {"method", method}, {"params", params}};
  }
  // The headers of a session that was begun.
  Headers session(const std::string& caller = "ann") {
    const HttpAnswer answer =
        post(request("initialize", {{"protocolVersion", "2025-11-25"}}), {{"X-Caller", caller}});
    EXPECT_EQ(answer.status, 200);
    const std::string name = "Mcp-Session-Id: ";
    const std::size_t at = answer.head.find(name);
    EXPECT_NE(at, std::string::npos) << answer.head;
    return {{"X-Caller", caller}, {"Mcp-Session-Id", answer.head.substr(at + name.size(), 32)}};
  }
  Json call(const Headers& session, const std::string& tool, const Json& arguments) {
    const HttpAnswer answer =
        post(request("tools/call", {{"name", tool}, {"arguments", arguments}}), session);
    const std::size_t at = answer.body.find('{');  // alone, or the data of an event
    const std::size_t end = answer.body.rfind('}');
    EXPECT_NE(at, std::string::npos) << answer.body;
    return Json::parse(answer.body.substr(at, end + 1 - at))["result"];
  }

  Result<ScratchDir> folder_ = ScratchDir::create("endpoint");
  std::unique_ptr<Mounted> handler_;
  std::unique_ptr<http::Server> server_;
  std::jthread thread_;  // ends before the others
};

const Json no_task = {{"task", "no_such_task"}, {"sources", {"int a;\nint b;\n"}}};

TEST_F(EndpointTest, ASessionIsThatOfItsCallerUntilItIsEnded) {
  begin(0);
  const Headers ann = session();
  EXPECT_THAT(post(request("tools/list"), ann).body, HasSubstr("next_proposal"));
  Headers bob = ann;
  bob["X-Caller"] = "bob";
  EXPECT_EQ(post(request("tools/list"), bob).status, 404);
  EXPECT_EQ(http(port(), "DELETE", "/mcp", "", bob).status, 404);
  EXPECT_EQ(post(request("tools/list"), {{"Mcp-Session-Id", "none"}}).status, 404);
  EXPECT_EQ(post(request("tools/list")).status, 400);
  EXPECT_EQ(http(port(), "DELETE", "/mcp", "", ann).status, 204);
  EXPECT_EQ(post(request("tools/list"), ann).status, 404);
}

TEST_F(EndpointTest, WhatIsNoMessageIsRefused) {
  begin(0);
  const auto status = [this](const std::string& body, const Headers& headers = {}) {
    return http(port(), "POST", "/mcp", body, headers).status;
  };
  for (const std::string& body :
       {std::string(), std::string("{"), std::string("[]"), std::string("null"), std::string("7"),
        "[" + request("ping").dump() + "]", std::string(10'000, '['), std::string("\"\xff\""),
        std::string(R"({"jsonrpc":"1.0","id":1,"method":"ping"})"),
        std::string(R"({"jsonrpc":"2.0","id":{},"method":"ping"})"),
        std::string(R"({"jsonrpc":"2.0","id":1,"method":"tools/list","method":"ping"})")}) {
    EXPECT_EQ(status(body), 400) << body.substr(0, 100);
  }
  EXPECT_EQ(status(request("ping").dump(), {{"Accept", "text/html"}}), 406);
  for (const char* const method : {"ping", "initialize", "tools/list"}) {
    for (const char* const version : {"1900-01-01", "2026-07-28"}) {
      EXPECT_EQ(status(request(method).dump(), {{"MCP-Protocol-Version", version}}), 400)
          << method << " " << version;
    }
  }
  EXPECT_EQ(http(port(), "GET", "/mcp").status, 405);
  EXPECT_EQ(http(port(), "HEAD", "/mcp").status, 405);
  EXPECT_EQ(http(port(), "PUT", "/mcp").status, 405);
}

TEST_F(EndpointTest, AnInitializeThatWantsNoAnswerBeginsNothing) {
  begin(0);
  Json message = request("initialize", {{"protocolVersion", "2025-11-25"}});
  message.erase("id");
  const HttpAnswer answer = post(message);
  EXPECT_EQ(answer.status, 400);
  EXPECT_EQ(answer.head.find("Mcp-Session-Id"), std::string::npos);
}

TEST_F(EndpointTest, JobsOfOthersAreUnknown) {
  begin(0);
  const Headers ann = session();
  const Headers bob = session("bob");
  const std::string job = call(bob, "evaluate", no_task)["structuredContent"]["job"];
  EXPECT_THAT(call(bob, "job", Json::object())["structuredContent"]["jobs"], SizeIs(1));
  EXPECT_EQ(call(bob, "job", {{"id", job}})["structuredContent"]["state"], "working");
  EXPECT_THAT(call(ann, "job", Json::object())["structuredContent"]["jobs"], IsEmpty());
  EXPECT_EQ(call(ann, "job", {{"id", job}})["isError"], true);
  EXPECT_EQ(call(ann, "job", {{"id", job}, {"cancel", true}})["isError"], true);
  EXPECT_FALSE(std::filesystem::exists(folder_->path() / "store" / "jobs" / job / "cancel"));
}

TEST_F(EndpointTest, OneCallerDoesNotTakeAllJobs) {
  begin(0);
  const Headers ann = session();
  for (int i = 0; i < 8; ++i) {
    EXPECT_TRUE(call(ann, "evaluate", no_task)["structuredContent"].contains("job"));
  }
  EXPECT_EQ(call(ann, "evaluate", no_task)["isError"], true);
  EXPECT_TRUE(call(session("bob"), "evaluate", no_task)["structuredContent"].contains("job"));
}

TEST_F(EndpointTest, WhoStillWaitsIsToldThatItsSessionIsEnded) {
  begin(60'000);
  const Headers ann = session();
  const std::jthread ends([&] {
    while (!std::filesystem::exists(folder_->path() / "store" / "jobs")) {
      std::this_thread::yield();
    }
    EXPECT_EQ(http(port(), "DELETE", "/mcp", "", ann).status, 204);
  });
  const HttpAnswer answer =
      post(request("tools/call", {{"name", "evaluate"}, {"arguments", no_task}}), ann);
  EXPECT_NE(answer.status, 0);
}

TEST_F(EndpointTest, TheAnswerToWhatWasCancelledEnds) {
  begin(60'000);
  const Headers ann = session();
  const std::filesystem::path jobs = folder_->path() / "store" / "jobs";
  const std::jthread cancels([&] {
    while (!std::filesystem::exists(jobs)) {
      std::this_thread::yield();
    }
    const Json cancelled = {
        {"jsonrpc", "2.0"}, {"method", "notifications/cancelled"}, {"params", {{"requestId", 1}}}};
    EXPECT_EQ(post(cancelled, ann).status, 202);
  });
  const HttpAnswer answer =
      post(request("tools/call", {{"name", "evaluate"}, {"arguments", no_task}}), ann);
  EXPECT_EQ(answer.status, 200);
  EXPECT_THAT(answer.body, Not(HasSubstr("result")));
  EXPECT_EQ(post(request("tools/list"), ann).status, 200) << "its id is free again";
}

TEST_F(EndpointTest, ManySessionsOfOneCallerEndNoneOfOthers) {
  begin(0);
  const Headers bob = session("bob");
  const Headers first = session();
  for (int i = 0; i < 500; ++i) {
    session();
  }
  EXPECT_EQ(post(request("tools/list"), bob).status, 200);
  EXPECT_EQ(post(request("tools/list"), first).status, 404);
}

TEST_F(EndpointTest, DamagedRequestsAreAnsweredAndTheNextOneIsServed) {
  begin(0);
  const Headers ann = session();
  const std::vector<std::string> whole = {
      request("tools/call", {{"name", "job"}, {"arguments", {{"id", "00000000000000aa"}}}}).dump(),
      request("resources/read", {{"uri", "kernelpro://node/axpy-1/3"}}).dump(),
      request("tools/list",
              {{"_meta", {{"io.modelcontextprotocol/protocolVersion", "2026-07-28"}}}})
          .dump(),
      R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":6}})"};
  Random random(20261118);
  for (int round = 0; round < 1000; ++round) {
    Headers headers = round % 2 == 0 ? ann : Headers();
    if (round % 3 == 0) {
      headers["MCP-Protocol-Version"] = "2026-07-28";
      headers["Mcp-Method"] = "tools/call";
      headers["Mcp-Name"] = "=?base64?!?=";
    }
    const std::string body = mutate(whole[random.below(whole.size())], random);
    EXPECT_NE(http(port(), "POST", "/mcp", body, headers).status, 0) << body;
  }
  EXPECT_THAT(post(request("tools/list"), ann).body, HasSubstr("next_proposal"));
}

}  // namespace
}  // namespace kernelpro::mcp
