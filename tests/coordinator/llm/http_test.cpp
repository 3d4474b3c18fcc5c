// One POST, and all that may become of it.
#include "coordinator/llm/http.hpp"

#include <gmock/gmock.h>
#include <sys/socket.h>

#include <thread>

#include "common/base/file.hpp"
#include "common/base/process.hpp"
#include "support/environment.hpp"
#include "support/llm_server/behaviors.hpp"
#include "support/llm_server/gzip.hpp"

namespace kernelpro {
namespace {

using llm_server::after;
using llm_server::answers;
using llm_server::chatters_after;
using llm_server::cuts_after;
using llm_server::gzipped;
using llm_server::hangs_after;
using llm_server::HttpServer;
using llm_server::in_turn;
using llm_server::pauses;
using llm_server::Seen;
using llm_server::streams;
using llm_server::streams_with_trailers;
using llm_server::Wire;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

struct Got {
  HttpEnd end;
  std::string body;
};

HttpPost post_to(const std::string& url) {
  HttpPost post;
  post.url = url;
  post.body = "{\"a\": 1}";
  return post;
}

Got fetch(HttpClient& client, const HttpPost& post, std::stop_token stop = {}) {
  Got got;
  got.end = client.post(
      post,
      [&got](const HttpHead&, std::string_view piece) {
        got.body += piece;
        return HttpTake::more;
      },
      std::move(stop));
  return got;
}

Got fetch(const HttpPost& post) {
  HttpClient client;
  return fetch(client, post);
}

TEST(HttpTest, SendsTheBodyAndGivesBackWhatCame) {
  const HttpServer server(
      answers(418, "Application/JSON; charset=utf-8", "short and stout", {"Retry-After: 7"}));
  HttpPost post = post_to(server.url() + "/v1/x");
  post.headers = {"X-One: two"};
  const Got got = fetch(post);
  EXPECT_EQ(got.end.outcome, HttpOutcome::finished);
  EXPECT_EQ(got.end.head.status, 418);
  EXPECT_EQ(got.end.head.content_type, "application/json");
  EXPECT_EQ(got.end.head.retry_after, "7");
  EXPECT_TRUE(got.end.sent);
  EXPECT_EQ(got.body, "short and stout");
  ASSERT_THAT(server.seen(), SizeIs(1));
  const Seen seen = server.seen()[0];
  EXPECT_EQ(seen.method, "POST");
  EXPECT_EQ(seen.target, "/v1/x");
  EXPECT_EQ(seen.body, post.body);
  EXPECT_EQ(seen.headers.at("x-one"), "two");
  EXPECT_THAT(seen.headers.at("user-agent"), HasSubstr("kernelpro/"));
}

TEST(HttpTest, ALargeRequestIsSentWithoutAskingFirst) {
  const HttpServer server(answers(200, "text/plain", "ok"));
  HttpPost post = post_to(server.url());
  post.body = std::string(5'000'000, 'x');
  EXPECT_EQ(fetch(post).body, "ok");
  EXPECT_EQ(server.seen()[0].body.size(), post.body.size());
  EXPECT_FALSE(server.seen()[0].headers.contains("expect"));
}

TEST(HttpTest, TheConnectionIsKeptForTheNextCall) {
  const HttpServer server(answers(200, "text/plain", "ok"));
  HttpClient client;
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(fetch(client, post_to(server.url())).body, "ok");
  }
  EXPECT_EQ(server.connections(), 1);
  EXPECT_THAT(server.seen(), SizeIs(5));
}

TEST(HttpTest, ManyThreadsShareAClient) {
  const HttpServer server(
      [](const Seen& seen, Wire& wire) { wire.answer(200, "text/plain", seen.body); });
  HttpClient client;
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 16; ++i) {
    threads.emplace_back([&, i] {
      for (int j = 0; j < 10; ++j) {
        HttpPost post = post_to(server.url());
        post.body = std::to_string(i * 100 + j);
        right += fetch(client, post).body == post.body ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(right, 160);
}

TEST(HttpTest, AStopEndsTheWait) {
  for (const auto& pieces : {std::vector<std::string>{}, std::vector<std::string>{"data: x"}}) {
    std::stop_source stop;
    const HttpServer server([&](const Seen& seen, Wire& wire) {
      stop.request_stop();
      hangs_after(pieces)(seen, wire);
    });
    HttpClient client;
    const Got got = fetch(client, post_to(server.url()), stop.get_token());
    EXPECT_EQ(got.end.outcome, HttpOutcome::stopped);
    EXPECT_TRUE(got.end.sent);
  }
}

TEST(HttpTest, WhatIsStoppedBeforeItBeginsIsNotSent) {
  const HttpServer server(answers(200, "text/plain", "ok"));
  std::stop_source stop;
  stop.request_stop();
  HttpClient client;
  const Got got = fetch(client, post_to(server.url()), stop.get_token());
  EXPECT_EQ(got.end.outcome, HttpOutcome::stopped);
  EXPECT_FALSE(got.end.sent);
}

TEST(HttpTest, ThereIsATimeForAllOfIt) {
  const HttpServer server(hangs_after({}));
  HttpPost post = post_to(server.url());
  post.timeout_seconds = 0.2;
  const Got got = fetch(post);
  EXPECT_EQ(got.end.outcome, HttpOutcome::timed_out);
  EXPECT_TRUE(got.end.sent);
}

TEST(HttpTest, AnAnswerThatBeganMustNotStall) {
  const HttpServer server(hangs_after({"data: x"}));
  HttpPost post = post_to(server.url());
  post.stall_seconds = 0.2;
  const Got got = fetch(post);
  EXPECT_EQ(got.end.outcome, HttpOutcome::stalled);
  EXPECT_EQ(got.body, "data: x");
}

TEST(HttpTest, BeforeTheFirstByteAModelMayThink) {
  const HttpServer server(after(400, answers(200, "text/plain", "at last")));
  HttpPost post = post_to(server.url());
  post.stall_seconds = 0.1;
  EXPECT_EQ(fetch(post).body, "at last");
}

TEST(HttpTest, AReceiverThatHasAllDoesNotWaitForTheEndOfTheConnection) {
  const HttpServer server(hangs_after({"the end"}));
  HttpPost post = post_to(server.url());
  post.stall_seconds = 3600;
  post.timeout_seconds = 3600;
  HttpClient client;
  const HttpEnd end =
      client.post(post, [](const HttpHead&, std::string_view) { return HttpTake::last; }, {});
  EXPECT_EQ(end.outcome, HttpOutcome::stalled);
}

TEST(HttpTest, WhatIsSaidAfterAllOfItKeepsNobodyWaiting) {
  const HttpServer server(chatters_after({"the end"}, ": still here\n\n"));
  HttpPost post = post_to(server.url());
  post.timeout_seconds = 60;
  HttpClient client;
  const HttpEnd end =
      client.post(post, [](const HttpHead&, std::string_view) { return HttpTake::last; }, {});
  EXPECT_EQ(end.outcome, HttpOutcome::stalled);
}

TEST(HttpTest, BeforeTheReceiverSaysThatItBeganAnAnswerMayPause) {
  const HttpServer server(pauses({"hello"}, 400, {"at last"}));
  HttpPost post = post_to(server.url());
  post.stall_seconds = 0.1;
  HttpClient client;
  std::string all;
  const HttpEnd end = client.post(post,
                                  [&all](const HttpHead&, std::string_view piece) {
                                    all += piece;
                                    return all == "hello" ? HttpTake::early : HttpTake::more;
                                  },
                                  {});
  EXPECT_EQ(end.outcome, HttpOutcome::finished);
  EXPECT_EQ(all, "helloat last");
}

TEST(HttpTest, AReceiverCanEndIt) {
  const HttpServer server(hangs_after({"enough"}));
  HttpClient client;
  const HttpEnd end = client.post(
      post_to(server.url()), [](const HttpHead&, std::string_view) { return HttpTake::end; }, {});
  EXPECT_EQ(end.outcome, HttpOutcome::ended);
}

TEST(HttpTest, AConnectionThatIsCutIsSeenAndTheNextCallIsFine) {
  const HttpServer server(in_turn({cuts_after({"data: x"}), cuts_after({"data: x"}, true),
                                   [](const Seen&, Wire& wire) { wire.raw("HTTP/1.1 200 OK\r\n"); },
                                   [](const Seen&, Wire&) {},
                                   [](const Seen&, Wire& wire) {
                                     wire.raw("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
                                   },
                                   answers(200, "text/plain", "ok")}));
  HttpClient client;
  for (int i = 0; i < 5; ++i) {
    const Got got = fetch(client, post_to(server.url()));
    EXPECT_EQ(got.end.outcome, HttpOutcome::cut) << i << " " << got.end.detail;
    EXPECT_TRUE(got.end.sent) << i;
  }
  EXPECT_EQ(fetch(client, post_to(server.url())).body, "ok");
}

TEST(HttpTest, WhatIsNoHttpIsSaidToBeNone) {
  for (const std::string bytes : {"220 mail.example ESMTP\r\n", "SSH-2.0-OpenSSH_9.2\r\n",
                                  "\x15\x03\x01\x01\x02\x02\x46"}) {  // the last: an alert of TLS
    const HttpServer server([&](const Seen&, Wire& wire) { wire.raw(bytes); });
    const HttpEnd end = fetch(post_to(server.url())).end;
    EXPECT_EQ(end.outcome, HttpOutcome::no_http) << end.detail;
  }
}

TEST(HttpTest, WhatIsSaidBehindTheBodyIsNoHead) {
  for (const auto& pieces : {std::vector<std::string>{"all of it"}, std::vector<std::string>{}}) {
    const HttpServer server(
        streams_with_trailers(pieces, "text/plain", {"X-Checksum: 7", "Content-Type: text/html"}));
    const Got got = fetch(post_to(server.url()));
    EXPECT_EQ(got.end.outcome, HttpOutcome::finished) << got.end.detail;
    EXPECT_EQ(got.end.head.content_type, "text/plain");
  }
}

TEST(HttpTest, TheHeadIsTheLastOne) {
  const HttpServer server([](const Seen&, Wire& wire) {
    wire.raw("HTTP/1.1 103 Early Hints\r\nContent-Type: text/html\r\nRetry-After: 3\r\n\r\n");
    wire.answer(200, "text/plain", "ok");
  });
  const Got got = fetch(post_to(server.url()));
  EXPECT_EQ(got.end.outcome, HttpOutcome::finished);
  EXPECT_EQ(got.end.head.content_type, "text/plain");
  EXPECT_EQ(got.end.head.retry_after, "");
}

TEST(HttpTest, WhatIsPackedIsUnpackedThoughNobodyAsksForIt) {
  const HttpServer server(
      in_turn({answers(200, "text/plain", gzipped("all of it"), {"Content-Encoding: gzip"}),
               streams({gzipped("all of it")}, "text/event-stream", {"Content-Encoding: gzip"})}));
  EXPECT_EQ(fetch(post_to(server.url())).body, "all of it");
  EXPECT_EQ(fetch(post_to(server.url())).body, "all of it");
  EXPECT_EQ(server.seen()[0].headers.at("accept-encoding"), "identity");
}

TEST(HttpTest, NobodyThere) {
  std::string url;
  {
    const HttpServer server(answers(200, "text/plain", "ok"));
    url = server.url();
  }
  const Got got = fetch(post_to(url));
  EXPECT_EQ(got.end.outcome, HttpOutcome::no_connection);
  EXPECT_FALSE(got.end.sent);
}

TEST(HttpTest, NoSuchHost) {
  const Got got = fetch(post_to("http://no..host/"));
  EXPECT_EQ(got.end.outcome, HttpOutcome::no_host);
  EXPECT_FALSE(got.end.sent);
}

TEST(HttpTest, AnAnswerBeyondTheLimitIsDropped) {
  const HttpServer server(answers(200, "text/plain", std::string(3'000'000, 'x')));
  HttpPost post = post_to(server.url());
  post.most_bytes = 1'000'000;
  EXPECT_EQ(fetch(post).end.outcome, HttpOutcome::too_large);
  post.most_bytes = 3'000'000;
  EXPECT_THAT(fetch(post).body, SizeIs(3'000'000));
}

TEST(HttpTest, NothingIsSentToWhereAServerPoints) {
  const HttpServer other(answers(200, "text/plain", "gotcha"));
  const HttpServer server(answers(307, "", "", {"Location: " + other.url()}));
  const Got got = fetch(post_to(server.url()));
  EXPECT_EQ(got.end.head.status, 307);
  EXPECT_EQ(got.end.head.location, other.url());
  EXPECT_THAT(other.seen(), IsEmpty());
}

TEST(HttpTest, AProxyOfTheEnvironmentIsUsedButNotForThisMachine) {
  const HttpServer proxy(answers(200, "text/plain", "by proxy"));
  const HttpServer server(answers(200, "text/plain", "directly"));
  const ScopedVariable http("http_proxy", proxy.url());
  const ScopedVariable none("no_proxy", std::nullopt);
  const ScopedVariable neither("NO_PROXY", std::nullopt);
  EXPECT_EQ(fetch(post_to("http://llm.example/v1/x")).body, "by proxy");
  ASSERT_THAT(proxy.seen(), SizeIs(1));
  EXPECT_EQ(proxy.seen()[0].target, "http://llm.example/v1/x");
  EXPECT_EQ(fetch(post_to(server.url())).body, "directly");
  EXPECT_THAT(proxy.seen(), SizeIs(1));
}

TEST(HttpTest, PlainTextWhereTlsShouldBeIsNotTrusted) {
  const HttpServer server(answers(200, "text/plain", "ok"));
  const Got got = fetch(post_to("https://127.0.0.1:" + std::to_string(server.port())));
  EXPECT_EQ(got.end.outcome, HttpOutcome::no_trust) << got.end.detail;
  EXPECT_FALSE(got.end.sent);
}

// openssl's own server: it prints what it receives and sends what it is told.
class TlsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!find_program("openssl")) {
      GTEST_SKIP() << "openssl is not in PATH";
    }
    const std::string key = (scratch_->path() / "key.pem").string();
    Command make;
    make.arguments = {"openssl",  "req",           "-x509",   "-newkey",
                      "rsa:2048", "-nodes",        "-keyout", key,
                      "-out",     cert(),          "-days",   "2",
                      "-subj",    "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"};
    const Result<Finished> made = run_command(make);
    ASSERT_TRUE(made.ok() && made->succeeded());
    Command serve;
    serve.arguments = {"openssl", "s_server", "-accept", "127.0.0.1:0",
                       "-cert",   cert(),     "-key",    key};
    Result<ChildProcess> child = ChildProcess::start(serve);
    ASSERT_TRUE(child.ok());
    child_.emplace(std::move(*child));
    const std::string line = wait_for_line("ACCEPT");  // "ACCEPT 127.0.0.1:40123"
    url_ = "https://localhost:" + line.substr(line.rfind(':') + 1);
  }

  std::string wait_for_line(const std::string& beginning) {
    Result<std::string> line = child_->read_line(60'000);
    while (line.ok() && !line->starts_with(beginning)) {
      line = child_->read_line(60'000);
    }
    EXPECT_TRUE(line.ok()) << "no line " << beginning;
    return line.ok() ? *line : "";
  }

  void answer_request() {
    wait_for_line("POST");
    for (const std::string line : {"HTTP/1.1 200 OK\r", "Content-Length: 3\r", "\r", "ok"}) {
      EXPECT_TRUE(child_->write_line(line).ok());
    }
  }

  std::string cert() const { return (scratch_->path() / "cert.pem").string(); }

  Result<ScratchDir> scratch_ = ScratchDir::create("tls-test");
  std::optional<ChildProcess> child_;
  std::string url_;
};

TEST_F(TlsTest, ACertificateNobodyVouchesForIsRefusedUnlessItIsNamed) {
  const ScopedVariable bundle("CURL_CA_BUNDLE", std::nullopt);
  {
    const ScopedVariable none("SSL_CERT_FILE", std::nullopt);
    const Got got = fetch(post_to(url_));
    EXPECT_EQ(got.end.outcome, HttpOutcome::no_trust);
    EXPECT_THAT(got.end.detail, HasSubstr("certificate"));
    EXPECT_FALSE(got.end.sent);
  }
  const ScopedVariable named("SSL_CERT_FILE", cert());
  std::thread server([this] { answer_request(); });
  const Got got = fetch(post_to(url_));
  EXPECT_EQ(got.end.outcome, HttpOutcome::finished) << got.end.detail;
  EXPECT_EQ(got.body, "ok\n");
  server.join();
}

}  // namespace
}  // namespace kernelpro
