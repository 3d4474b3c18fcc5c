// Clients that are slow, greedy, old or wrong on purpose.
#include <sys/resource.h>

#include "coordinator/http/server_fixture.hpp"

namespace kernelpro::http {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class HostileClients : public ServerTest {
 protected:
  // So often that whatever the server can do without its clients is done.
  void wait_for_ticks(int count) const {
    for (const int begun = echo_.ticks_; echo_.ticks_ < begun + count;) {
      std::this_thread::yield();
    }
  }
};

TEST_F(HostileClients, WhoAsksWithoutReadingIsNotAnsweredAhead) {
  constexpr int requests = 500;
  begin();
  Client greedy(port());
  std::string asked;
  for (int i = 1; i < requests; ++i) {
    asked += "GET /large HTTP/1.1\r\n\r\n";
  }
  greedy.send(asked + "GET /large HTTP/1.1\r\nConnection: close\r\n\r\n");
  wait_for_ticks(200);
  // Some fit what the system keeps for a socket.
  EXPECT_LT(echo_.taken_, requests / 2);
  EXPECT_GT(greedy.count_all(), requests * echo_.large_bytes_);
  EXPECT_EQ(echo_.taken_, requests);
}

// With a pause between them, even one for many, these would take longer than any test may.
TEST_F(HostileClients, RequestsThatCameTogetherDoNotWaitForThePauseBetweenTwoTicks) {
  constexpr int requests = 30'000;
  echo_.pause_ms_ = 1000;
  begin();
  Client eager(port());
  const std::jthread asks([&eager] {
    for (int i = 1; i < requests; ++i) {
      eager.try_send("GET /quick HTTP/1.1\r\n\r\n");
    }
    eager.try_send("GET /quick HTTP/1.1\r\nConnection: close\r\n\r\n");
  });
  EXPECT_GT(eager.count_all(), 0U);
  EXPECT_EQ(echo_.taken_, requests);
}

TEST_F(HostileClients, AnswersThatNobodyTakesAreBoundedTogether) {
  begin({.most_bytes = 1'000'000});
  echo_.large_bytes_ = 20'000'000;
  Client silent(port());
  silent.send("GET /large HTTP/1.1\r\n\r\n");
  wait_for_ticks(10);
  Client other(port());
  other.send("GET /quick HTTP/1.1\r\n\r\n");
  EXPECT_THAT(other.read_all(), StartsWith("HTTP/1.1 503"));
  silent.leave();
  wait_for_ticks(10);
  Client later(port());
  later.send("GET /quick HTTP/1.1\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(later.read_all(), StartsWith("HTTP/1.1 200"));
}

// A connection that is closed while bytes of its client are on the way loses what was said last.
TEST_F(HostileClients, WhoSendsTooMuchIsToldSoEvenIfItSendsAllOfIt) {
  begin();
  for (int i = 0; i < 5; ++i) {
    Client large(port());
    EXPECT_TRUE(large.try_send("POST / HTTP/1.1\r\nContent-Length: 3000000\r\n\r\n"));
    EXPECT_TRUE(large.try_send(std::string(3'000'000, 'x')));
    EXPECT_THAT(large.read_all(), StartsWith("HTTP/1.1 413 Content Too Large"));
  }
}

TEST_F(HostileClients, WhoIsRefusedCannotStay) {
  begin({.request_ms = 50});
  Client stubborn(port());
  stubborn.send("nonsense\r\n\r\n");
  while (stubborn.try_send("and more of it")) {
  }
}

TEST_F(HostileClients, EmptyLinesAreNoReasonToStay) {
  begin({.request_ms = 50, .idle_ms = 50});
  Client idle(port());
  int sent = 0;
  while (sent < 3'000'000 && idle.try_send("\r\n")) {
    ++sent;
  }
  EXPECT_LT(sent, 3'000'000);
}

TEST_F(HostileClients, EndlessTrailersAreRefused) {
  begin();
  Client endless(port());
  endless.send("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n");
  int sent = 0;
  while (sent < 1000 && endless.try_send("X: y\r\n")) {
    ++sent;
  }
  EXPECT_THAT(endless.read_all(), StartsWith("HTTP/1.1 431"));
}

TEST_F(HostileClients, AStreamIsNoBodyOfAHead) {
  begin();
  Client client(port());
  client.send("HEAD /stream HTTP/1.1\r\n\r\nGET /quick HTTP/1.1\r\nConnection: close\r\n\r\n");
  const std::string all = client.read_all();
  EXPECT_THAT(all, Not(HasSubstr("first")));
  EXPECT_THAT(all, HasSubstr("/quick "));
}

TEST_F(HostileClients, WhoIsOfTheOlderVersionGetsNoChunks) {
  begin();
  Client old(port());
  old.send("GET /stream HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  (void)old.read_until("first\n");
  echo_.release_ = true;
  const std::string all = old.read_all();
  EXPECT_THAT(all, Not(HasSubstr("chunked")));
  EXPECT_TRUE(all.ends_with("\r\n\r\nfirst\nsecond\n")) << all;
}

TEST_F(HostileClients, AnAnswerWithoutABodyHasNoLengthOfOne) {
  EXPECT_THAT(head_of({204, "", ""}, 0, true), Not(HasSubstr("Content-Length")));
  EXPECT_THAT(head_of({405, "", ""}, 0, true), HasSubstr("Content-Length: 0\r\n"));
}

// As many connections as the process may have files, and one that has to wait until some leave.
TEST_F(HostileClients, WhoFindsNoDescriptorLeftIsServedWhenOthersLeave) {
  begin();
  Client first(port());
  first.send("GET /first HTTP/1.1\r\n\r\n");
  (void)first.read_until("/first ");
  Client waiting;
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  wait_for_ticks(1);  // a sanitizer needs files too where something is called the first time
  rlimit none = before;
  none.rlim_cur = 3;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  waiting.connect(port());
  waiting.send("GET /waiting HTTP/1.1\r\nConnection: close\r\n\r\n");
  const int begun = echo_.ticks_;
  wait_for_ticks(20);
  first.send("GET /second HTTP/1.1\r\n\r\n");
  EXPECT_THAT(first.read_until("/second "), HasSubstr("/second "));
  EXPECT_GE(echo_.ticks_, begun + 20);
  EXPECT_EQ(echo_.taken_, 2);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_THAT(waiting.read_all(), HasSubstr("/waiting "));
}

}  // namespace
}  // namespace kernelpro::http
