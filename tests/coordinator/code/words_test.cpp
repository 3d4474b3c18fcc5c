#include "coordinator/code/words.hpp"

#include <gmock/gmock.h>

namespace kernelpro::code {
namespace {

using ::testing::ElementsAre;

TEST(Words, SplitIdentifiersAtUnderscoresAndCapitals) {
  EXPECT_THAT(split_name("PipelineTmaAsync").parts, ElementsAre("pipelin", "tma", "async"));
  EXPECT_EQ(split_name("PipelineTmaAsync").whole, "pipelinetmaasync");
  EXPECT_THAT(split_name("SM90_U32x4_STSM").parts, ElementsAre("sm90", "u32x4", "stsm"));
  EXPECT_THAT(split_name("Sm90RowBroadcast").parts, ElementsAre("sm90", "row", "broadcast"));
  EXPECT_THAT(split_name("UMMALayout").parts, ElementsAre("umma", "layout"));
}

TEST(Words, AreTheSameInCamelCaseAndWithUnderscores) {
  EXPECT_EQ(split_name("MakeTmaCopy").whole, split_name("make_tma_copy").whole);
  EXPECT_EQ(split_name("MakeTmaCopy").parts, split_name("make_tma_copy").parts);
}

TEST(Words, LeaveOutSingleLettersAndLongNumbers) {
  EXPECT_THAT(split_name("stream_k_12345_128").parts, ElementsAre("stream", "128"));
}

TEST(Words, OfTextAreItsNames) {
  EXPECT_THAT(names_of("a+=tma_load(x, 42);"), ElementsAre("a", "tma_load", "x", "42"));
  EXPECT_THAT(names_of(std::string(1000, 'x') + " tma"), ElementsAre("tma"));
  EXPECT_THAT(names_of("caf\xc3\xa9 tma"), ElementsAre("caf", "tma"));
}

TEST(Words, MeetInTheirStems) {
  for (const char* word : {"scaled", "scaling", "scales"}) {
    EXPECT_EQ(stem(word), stem("scale")) << word;
  }
  EXPECT_EQ(stem("swapped"), stem("swap"));
  EXPECT_EQ(stem("predication"), stem("predicate"));
  EXPECT_EQ(stem("barriers"), stem("barrier"));
  EXPECT_EQ(stem("class"), "class");
  EXPECT_EQ(stem("fp8"), "fp8");
}

}  // namespace
}  // namespace kernelpro::code
