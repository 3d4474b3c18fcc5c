#include "coordinator/mcp/lines.hpp"

#include <gmock/gmock.h>

#include <vector>

#include "common/base/random.hpp"

namespace kernelpro::mcp {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> all_of(Lines& lines) {
  std::vector<std::string> found;
  while (const std::optional<Lines::Line> line = lines.next()) {
    found.push_back(line->too_long ? "too long" : line->text);
  }
  return found;
}

TEST(McpLines, WholeLinesComeOutHoweverTheBytesArrive) {
  Lines lines;
  lines.add("one\r\n\n\ntw");
  EXPECT_THAT(all_of(lines), ElementsAre("one"));
  lines.add("o\nthree");
  EXPECT_THAT(all_of(lines), ElementsAre("two"));
  lines.add("\n");
  EXPECT_THAT(all_of(lines), ElementsAre("three"));
}

TEST(McpLines, ALineBeyondTheBoundIsDroppedAndTheNextIsRead) {
  Lines lines(10);
  lines.add("0123456789\n0123456789a\nnext\n");
  EXPECT_THAT(all_of(lines), ElementsAre("0123456789", "too long", "next"));
  for (int i = 0; i < 100; ++i) {
    lines.add("0123456789");
    EXPECT_THAT(all_of(lines), ElementsAre());
  }
  lines.add("\nnext\n");
  EXPECT_THAT(all_of(lines), ElementsAre("too long", "next"));
}

TEST(McpLines, AnyCutOfTheBytesGivesTheSameLines) {
  std::string bytes;
  Random random(7);
  for (int i = 0; i < 300; ++i) {
    bytes += std::string(random.below(30), 'x') + (random.below(4) == 0 ? "\r\n" : "\n");
  }
  Lines whole(20);
  whole.add(bytes);
  const std::vector<std::string> expected = all_of(whole);
  for (int round = 0; round < 50; ++round) {
    Lines lines(20);
    std::vector<std::string> found;
    for (std::size_t at = 0; at < bytes.size();) {
      const std::size_t length = 1 + random.below(60);
      lines.add(std::string_view(bytes).substr(at, length));
      at += length;
      for (std::string& line : all_of(lines)) {
        found.push_back(std::move(line));
      }
    }
    EXPECT_EQ(found, expected);
  }
}

}  // namespace
}  // namespace kernelpro::mcp
