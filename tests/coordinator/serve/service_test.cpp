// The whole service in this process, with a worker that never answers: what is accepted, refused
// and survived before anything is judged.
#include "coordinator/serve/service.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "common/base/file.hpp"
#include "support/http_client.hpp"
#include "worker/profile/mutate.hpp"

namespace kernelpro::serve {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;
using testing::http;
using testing::HttpAnswer;

class ServiceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ServiceSettings settings;
    settings.store = folder_->path();
    settings.port = 0;
    settings.judges.places.front().command = "sleep 1000000";
    thread_ = std::jthread([this, settings](const std::stop_token& stop) {
      const Status done = serve(
          settings,
          [this](const std::string& url) { port_ = std::stoi(url.substr(url.rfind(':') + 1)); },
          stop);
      EXPECT_TRUE(done.ok()) << done.error().text();
      port_ = port_ == 0 ? -1 : port_.load();
    });
    while (port_ == 0) {
      std::this_thread::yield();
    }
  }
  HttpAnswer post(const std::string& path, const Json& body, const std::string& key = "") {
    return http(port_, "POST", path, body.dump(), {{"Idempotency-Key", key}});
  }

  Result<ScratchDir> folder_ = ScratchDir::create("service");
  std::atomic<int> port_ = 0;
  std::jthread thread_;  // ends before the others
};

const Json one = {{"task", "axpy"}, {"source", "int a;\nint b;\n"}};

TEST_F(ServiceTest, WhatAsksForSeveralThingsIsRefused) {
  Json both = one;
  both["evaluations"] = {one};
  EXPECT_EQ(post("/v1/evaluate", both).status, 422);
  Json run = one;
  run["run"] = "axpy-1";
  EXPECT_THAT(post("/v1/diagnose", run).body, HasSubstr("give one of task, run and program"));
  EXPECT_EQ(post("/v1/evaluate", one).status, 202);
}

TEST_F(ServiceTest, NoFileIsAnIncumbent) {
  Json wish = one;
  wish["incumbent"] = "/etc/passwd";
  const HttpAnswer refused = post("/v1/evaluate", wish);
  EXPECT_EQ(refused.status, 422);
  EXPECT_THAT(refused.body, HasSubstr("incumbent: expected the whole text of a source"));
}

TEST_F(ServiceTest, AKeyIsGoodForOneQuestion) {
  const std::string first = post("/v1/evaluate", one, "key").body;
  const Json id = Json::parse(first)["results"][0]["id"];
  EXPECT_EQ(Json::parse(post("/v1/evaluate", one, "key").body)["results"][0]["id"], id);
  EXPECT_EQ(post("/v1/diagnose", one, "key").status, 422);
  EXPECT_EQ(post("/v1/evaluate", one, std::string(201, 'k')).status, 400);
}

TEST_F(ServiceTest, ABatchIsAnsweredAsItStandsWhenItsTimeIsOver) {
  const HttpAnswer answer = post("/v1/evaluate?wait=1", {{"evaluations", {one, one, one}}});
  EXPECT_EQ(answer.status, 202);
  EXPECT_EQ(Json::parse(answer.body)["results"].size(), 3U);
}

TEST_F(ServiceTest, DamagedRequestsAreAnsweredAndTheNextOneIsServed) {
  const std::string head = " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n";
  const std::string body = Json{{"evaluations", {one, one}}}.dump();
  const std::vector<std::string> whole = {
      "POST /v1/evaluate?wait=0" + head + "Idempotency-Key: k\r\nContent-Length: " +
          std::to_string(body.size()) + "\r\n\r\n" + body,
      "POST /v1/diagnose" + head +
          "Transfer-Encoding: chunked\r\n\r\n13\r\n{\"run\":\"axpy-1\",\r\n"
          "9\r\n\"node\":3}\r\n0\r\n\r\n",
      "GET /v1/results/00000000000000000000000000000000/certificate" + head + "\r\n",
      "GET /v1/runs/axpy-1/nodes/3" + head + "\r\n",
      "GET /openapi.json" + head + "\r\n",
      "GET /metrics" + head + "\r\n",
      "HEAD /v1/events?id=1" + head + "Last-Event-ID: 7\r\n\r\n"};
  Random random(20261118);
  for (int round = 0; round < 1500; ++round) {
    // What is cut is never whole: nobody waits for the answer to it.
    const std::string bytes = mutate(whole[static_cast<std::size_t>(round) % whole.size()], random);
    const UniqueFd socket = testing::connect_to(port_);
    ASSERT_TRUE(socket.valid());
    (void)::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    ::shutdown(socket.get(), SHUT_WR);
    std::array<char, 65536> piece;
    while (::recv(socket.get(), piece.data(), piece.size(), 0) > 0) {
    }
  }
  EXPECT_EQ(http(port_, "GET", "/v1/tasks").status, 200);
}

}  // namespace
}  // namespace kernelpro::serve
