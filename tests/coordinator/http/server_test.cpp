#include "coordinator/http/server_fixture.hpp"

namespace kernelpro::http {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST_F(ServerTest, RequestsOfOneConnectionAreAnsweredInTheirOrder) {
  begin();
  Client client(port());
  client.send(
      "GET /a HTTP/1.1\r\n\r\nPOST /b HTTP/1.1\r\nContent-Length: 2\r\n\r\nhi"
      "GET /c HTTP/1.1\r\nConnection: close\r\n\r\n");
  const std::string all = client.read_all();
  EXPECT_LT(all.find("/a "), all.find("/b hi"));
  EXPECT_LT(all.find("/b hi"), all.find("/c "));
  EXPECT_THAT(all, HasSubstr("Connection: close"));
}

TEST_F(ServerTest, WhoeverWaitsHoldsNobodyUp) {
  begin();
  std::vector<std::unique_ptr<Client>> waiting;
  for (int i = 0; i < 100; ++i) {
    waiting.push_back(std::make_unique<Client>(port()));
    waiting.back()->send("GET /later HTTP/1.1\r\n\r\n");
  }
  Client stream(port());
  stream.send("GET /stream HTTP/1.1\r\n\r\n");
  EXPECT_THAT(stream.read_until("first"), HasSubstr("Transfer-Encoding: chunked"));
  Client quick(port());
  quick.send("GET /quick HTTP/1.1\r\n\r\n");
  EXPECT_THAT(quick.read_until("/quick "), StartsWith("HTTP/1.1 200 OK"));
  echo_.release_ = true;
  for (const auto& one : waiting) {
    EXPECT_THAT(one->read_until("at last"), HasSubstr("at last"));
  }
  EXPECT_THAT(stream.read_until("0\r\n\r\n"), HasSubstr("second"));
}

TEST_F(ServerTest, AClientThatLeavesIsSeen) {
  begin();
  Client client(port());
  client.send("GET /stream HTTP/1.1\r\n\r\n");
  (void)client.read_until("first");
  client.leave();
  while (echo_.left_ == 0) {
    std::this_thread::yield();
  }
}

TEST_F(ServerTest, WhatIsTooLargeOrMalformedIsRefusedAndTheConnectionClosed) {
  begin();
  Client large(port());
  large.send("POST / HTTP/1.1\r\nContent-Length: 1001\r\n\r\n");
  EXPECT_THAT(large.read_all(), StartsWith("HTTP/1.1 413 Content Too Large"));
  Client broken(port());
  broken.send("\x16\x03\x01 not HTTP at all\r\n\r\n");
  EXPECT_THAT(broken.read_all(), StartsWith("HTTP/1.1 400 Bad Request"));
}

TEST_F(ServerTest, ASlowClientIsToldThatItIsLate) {
  begin({.request_ms = 50, .idle_ms = 50});
  Client slow(port());
  slow.send("POST / HTTP/1.1\r\nContent-Length: 10\r\n\r\nabc");
  EXPECT_THAT(slow.read_all(), StartsWith("HTTP/1.1 408 Request Timeout"));
  Client silent(port());
  EXPECT_EQ(silent.read_all(), "");
}

TEST_F(ServerTest, TooManyConnectionsAreSentAway) {
  begin({.most_connections = 1});
  Client first(port());
  first.send("GET /later HTTP/1.1\r\n\r\n");
  Client second(port());
  const std::string told = second.read_all();
  EXPECT_THAT(told, StartsWith("HTTP/1.1 503"));
  EXPECT_THAT(told, HasSubstr("Retry-After: 5"));
}

}  // namespace
}  // namespace kernelpro::http
