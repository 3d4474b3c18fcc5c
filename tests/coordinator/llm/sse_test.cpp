// Server-sent events, however they are written and wherever they are cut.
#include "coordinator/llm/sse.hpp"

#include <gmock/gmock.h>

#include "common/base/random.hpp"

namespace kernelpro {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<SseEvent> events_of(std::string_view text) {
  SseParser parser;
  const Result<std::vector<SseEvent>> events = parser.feed(text);
  EXPECT_TRUE(events.ok());
  return events.ok() ? *events : std::vector<SseEvent>{};
}

SseEvent event(std::string data, std::string name = {}) {
  return {std::move(name), std::move(data)};
}

TEST(SseTest, AnEmptyLineEndsAnEvent) {
  EXPECT_THAT(events_of("event: ping\ndata: {}\n\ndata: x\n\n"),
              ElementsAre(event("{}", "ping"), event("x")));
}

TEST(SseTest, LinesEndWithAnyOfThree) {
  EXPECT_THAT(events_of("data: a\n\ndata: b\r\rdata: c\r\n\r\ndata: d\r\n\n"),
              ElementsAre(event("a"), event("b"), event("c"), event("d")));
}

TEST(SseTest, LinesOfDataAreJoined) {
  EXPECT_THAT(events_of("data: a\ndata:b\ndata\ndata:  c\n\n"), ElementsAre(event("a\nb\n\n c")));
}

TEST(SseTest, CommentsIdsAndUnknownFieldsArePassedOver) {
  EXPECT_THAT(events_of(": keep-alive\n\nid: 7\nretry: 3\nother: x\ndata: a\n:\n\n"),
              ElementsAre(event("a")));
}

TEST(SseTest, AMarkAtTheBeginningIsNoText) {
  EXPECT_THAT(events_of("\xEF\xBB\xBF"
                        "data: a\n\n\xEF\xBB\xBF"
                        "data: b\n\n"),
              ElementsAre(event("a")));
}

TEST(SseTest, AnEventWithoutDataOrWithoutAnEndIsNone) {
  EXPECT_THAT(events_of("event: ping\n\n"), IsEmpty());
  EXPECT_THAT(events_of("data: a\n"), IsEmpty());
  EXPECT_THAT(events_of("data:\n\n"), ElementsAre(event("")));
  // The name of an event that was none does not stay.
  EXPECT_THAT(events_of("event: ping\n\ndata: a\n\n"), ElementsAre(event("a")));
}

TEST(SseTest, ALineOrAnEventBeyondTheLimitIsAnErrorForGood) {
  SseParser long_line(1000);
  ASSERT_TRUE(long_line.feed(std::string(900, 'x')).ok());
  EXPECT_THAT(long_line.feed(std::string(200, 'x')).error().text(), HasSubstr("more than"));
  EXPECT_FALSE(long_line.feed("\n\ndata: a\n\n").ok());

  SseParser long_event(1000);
  bool failed = false;
  for (int i = 0; i < 100; ++i) {
    failed = !long_event.feed("data: 0123456789\n").ok() || failed;
  }
  EXPECT_TRUE(failed);
}

TEST(SseTest, SmallEventsWithoutEndStayWithinTheLimit) {
  SseParser parser(1000);
  for (int i = 0; i < 10'000; ++i) {
    ASSERT_TRUE(parser.feed("data: 0123456789\n\n").ok());
  }
}

std::vector<SseEvent> fed_in_pieces(std::string_view text, Random& random) {
  SseParser parser;
  std::vector<SseEvent> all;
  while (!text.empty()) {
    const std::size_t size = std::min<std::size_t>(text.size(), 1 + random.below(7));
    const Result<std::vector<SseEvent>> events = parser.feed(text.substr(0, size));
    EXPECT_TRUE(events.ok());
    all.insert(all.end(), events->begin(), events->end());
    text.remove_prefix(size);
  }
  return all;
}

TEST(SseTest, CutsMakeNoDifferenceWhateverTheBytes) {
  Random random(7);
  constexpr std::string_view usual = "\r\n\n:d ae\xEF\xBB\xBF";
  const std::vector<std::string> words = {"data: ", "data", "event: ", "\n\n", "\r\n\r\n", ": x"};
  std::size_t found = 0;
  for (int round = 0; round < 10'000; ++round) {
    std::string text;
    for (std::uint64_t i = random.below(40); i > 0; --i) {
      switch (random.below(3)) {
        case 0:
          text += words[random.below(words.size())];
          break;
        case 1:
          text += usual[random.below(usual.size())];
          break;
        default:
          text += static_cast<char>(random.below(256));
      }
    }
    const std::vector<SseEvent> whole = events_of(text);
    EXPECT_EQ(fed_in_pieces(text, random), whole) << ::testing::PrintToString(text);
    found += whole.size();
  }
  EXPECT_GT(found, 1000U);
}

}  // namespace
}  // namespace kernelpro
