#include "coordinator/http/parser.hpp"

#include <gmock/gmock.h>

#include "common/base/random.hpp"

namespace kernelpro::http {
namespace {

using ::testing::HasSubstr;

constexpr Limits small{.head = 400, .body = 64};

// What comes of these bytes, given in pieces of that size.
std::vector<Request> requests_of(Parser& parser, const std::string& bytes, std::size_t piece) {
  std::vector<Request> requests;
  for (std::size_t from = 0; from < bytes.size(); from += piece) {
    parser.add(std::string_view(bytes).substr(from, piece));
    while (std::optional<Request> request = parser.next()) {
      requests.push_back(std::move(*request));
    }
  }
  return requests;
}

Refusal refusal_of(const std::string& bytes) {
  Parser parser(small);
  EXPECT_TRUE(requests_of(parser, bytes, bytes.size()).empty()) << bytes;
  return parser.refusal().value_or(Refusal{0, "it is not refused"});
}

const std::string two =
    "POST /v1/evaluate?wait=3&name=a%20b+c HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\n"
    "hello"
    "POST /x HTTP/1.1\r\nHOST:  localhost \r\nTransfer-Encoding: chunked\r\n\r\n"
    "3;with=more\r\nabc\r\n2\r\nde\r\n0\r\nTrailer: x\r\n\r\n";

TEST(ParserTest, RequestsAreTheSameInWhateverPiecesTheyCome) {
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, two.size()}) {
    Parser parser(small);
    const std::vector<Request> requests = requests_of(parser, two, piece);
    ASSERT_EQ(requests.size(), 2U) << piece;
    EXPECT_EQ(requests[0].path, "/v1/evaluate");
    EXPECT_EQ(requests[0].query.at("wait"), "3");
    EXPECT_EQ(requests[0].query.at("name"), "a b c");
    EXPECT_EQ(requests[0].body, "hello");
    EXPECT_EQ(requests[1].header("host"), "localhost");
    EXPECT_EQ(requests[1].body, "abcde");
    EXPECT_FALSE(parser.within());
  }
}

TEST(ParserTest, ATextThatCouldBeReadTwoWaysIsRefused) {
  const std::string head = "POST / HTTP/1.1\r\nHost: a\r\n";
  for (const char* const bad :
       {"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n",
        "Content-Length: 3\r\nContent-Length: 4\r\n", "Content-Length: +3\r\n",
        "Content-Length: 3 4\r\n", "Host: b\r\n", "Bad Name: x\r\n", "Name : x\r\n", " folded\r\n",
        "X: a\x01z\r\n"}) {
    EXPECT_EQ(refusal_of(head + bad + "\r\n").status, 400) << bad;
  }
  EXPECT_EQ(refusal_of(head + "Transfer-Encoding: gzip\r\n\r\n").status, 501);
}

TEST(ParserTest, WhatIsTooLargeIsRefusedBeforeItIsKept) {
  EXPECT_EQ(refusal_of("POST / HTTP/1.1\r\nContent-Length: 65\r\n\r\n").status, 413);
  EXPECT_EQ(refusal_of("POST / HTTP/1.1\r\nContent-Length: 99999999999999999999999\r\n\r\n").status,
            413);
  EXPECT_EQ(refusal_of("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n41\r\n").status, 413);
  EXPECT_EQ(refusal_of("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n")
                .status,
            413);
  EXPECT_EQ(refusal_of("GET /" + std::string(500, 'a') + " HTTP/1.1\r\n\r\n").status, 431);
  EXPECT_EQ(refusal_of("GET / HTTP/1.1\r\nX: " + std::string(500, 'a')).status, 431);
}

TEST(ParserTest, MalformedLinesAreRefused) {
  for (const char* const bad :
       {"GET\r\n\r\n", "GET / HTTP/2.0\r\n\r\n", "GET http://x/ HTTP/1.1\r\n\r\n",
        "GET /%zz HTTP/1.1\r\n\r\n", "GET /%00 HTTP/1.1\r\n\r\n", "GET /a b HTTP/1.1\r\n\r\n",
        "G@T / HTTP/1.1\r\n\r\n", "GET /?a=%1 HTTP/1.1\r\n\r\n"}) {
    EXPECT_EQ(refusal_of(bad).status, 400) << bad;
  }
  EXPECT_THAT(refusal_of("GET / HTTP/3\r\n\r\n").why, HasSubstr("HTTP/1.1"));
}

TEST(ParserTest, ManyChunksAreReadInProportionToTheirNumber) {
  constexpr std::size_t chunks = 2'000'000;
  std::string bytes = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (std::size_t i = 0; i < chunks; ++i) {
    bytes += "1\r\nx\r\n";
  }
  Parser parser({.head = 400, .body = chunks});
  parser.add(bytes + "0\r\n\r\n");
  const std::optional<Request> request = parser.next();
  ASSERT_TRUE(request);
  EXPECT_EQ(request->body.size(), chunks);
  EXPECT_EQ(parser.held_bytes(), 0U);
}

TEST(ParserTest, AClientThatAsksBeforeItSendsIsSeenOnce) {
  Parser parser(small);
  parser.add("POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  EXPECT_FALSE(parser.next());
  EXPECT_TRUE(parser.take_expects());
  EXPECT_FALSE(parser.take_expects());
  parser.add("ab");
  EXPECT_TRUE(parser.next());
}

// Bytes changed, cut, doubled and dropped: whatever comes, nothing is read beyond its bounds, and
// no request has more than a request may have.
TEST(ParserTest, DamagedRequestsAreRequestsOrRefused) {
  Random random(7);
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes = two;
    for (std::uint64_t changes = random.below(6); changes > 0; --changes) {
      const std::size_t place = random.below(bytes.size());
      switch (random.below(4)) {
        case 0:
          bytes[place] = static_cast<char>(random.below(256));
          break;
        case 1:
          bytes.erase(place, random.below(20));
          break;
        case 2:
          bytes.insert(place, bytes.substr(random.below(bytes.size()), random.below(20)));
          break;
        default:
          bytes.insert(place, random.below(2) == 0 ? "\r\n" : "0");
      }
      bytes += bytes.empty() ? "x" : "";
    }
    Parser parser(small);
    for (const Request& request : requests_of(parser, bytes, 1 + random.below(bytes.size()))) {
      EXPECT_LE(request.body.size(), small.body);
      EXPECT_TRUE(request.path.starts_with('/') || request.path.find('/') != std::string::npos);
    }
    EXPECT_LE(parser.held_bytes(), small.head + small.body + bytes.size());
  }
}

TEST(ParserTest, EventsOfSeveralLinesStayOneEvent) {
  EXPECT_EQ(event_of("7", "done", "a\nb"), "id: 7\nevent: done\ndata: a\ndata: b\n\n");
  EXPECT_THAT(head_of({200, "text/plain", "", {{"X", "a\r\nSet-Cookie: b"}}}, 0, true),
              HasSubstr("X: a  Set-Cookie: b\r\n"));
}

}  // namespace
}  // namespace kernelpro::http
