#include "coordinator/code/question.hpp"

#include <gmock/gmock.h>

namespace kernelpro::code {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;

TEST(Question, LeavesOutFillers) {
  const std::vector<AskedWord> words = asked_words("how do I use the tma");
  ASSERT_EQ(words.size(), 1U);
  EXPECT_EQ(words[0].forms.front(), "tma");
}

TEST(Question, OfFillersAloneIsAskedAsItIs) {
  EXPECT_EQ(asked_words("where from").size(), 2U);
}

TEST(Question, JoinsNeighbors) {
  const std::vector<AskedWord> words = asked_words("warp specialized gemm");
  ASSERT_EQ(words.size(), 3U);
  EXPECT_THAT(words[0].forms, ElementsAre("warp", "warpspecializ"));
  EXPECT_THAT(words[1].forms, Contains("warpspecializ"));
}

TEST(Question, AsksForAnIdentifierInItsPartsAndWhole) {
  const std::vector<AskedWord> words = asked_words("make_tma_copy");
  ASSERT_EQ(words.size(), 4U);
  EXPECT_THAT(words[3].forms, ElementsAre("maketmacopy"));
  EXPECT_TRUE(words[3].extra);
}

TEST(Question, HasEachWordOnce) {
  EXPECT_EQ(asked_words("tma TMA tma").size(), 1U);
}

}  // namespace
}  // namespace kernelpro::code
