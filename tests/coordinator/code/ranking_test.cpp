#include "coordinator/code/ranking.hpp"

#include <gmock/gmock.h>

#include "coordinator/code/file_kind.hpp"

namespace kernelpro::code {
namespace {

std::vector<std::int64_t> order_of(const std::vector<WordMatches>& words,
                                   const std::unordered_map<std::int64_t, FileKind>& kinds) {
  std::vector<std::int64_t> files;
  for (const RankedFile& file : rank_files(words, kinds)) {
    files.push_back(file.file);
  }
  return files;
}

TEST(Ranking, PutsExamplesBeforeInternalsAndTestsLast) {
  const std::vector<WordMatches> words = {
      {.extra = false, .scores = {{1, 5}, {2, 5}, {3, 5}, {4, 5}}}};
  EXPECT_THAT(order_of(words, {{1, FileKind::test},
                               {2, FileKind::internal},
                               {3, FileKind::source},
                               {4, FileKind::example},
                               {5, FileKind::source}}),
              ::testing::ElementsAre(4, 3, 2, 1));
}

TEST(Ranking, PrefersFilesThatHaveTheRareWords) {
  // The second word is in one file of ten.
  const std::vector<WordMatches> words = {
      {.extra = false, .scores = {{1, 4}, {2, 6}, {3, 4}, {4, 4}, {5, 4}}},
      {.extra = false, .scores = {{1, 2.5}}}};
  std::unordered_map<std::int64_t, FileKind> kinds;
  for (std::int64_t file = 1; file <= 10; ++file) {
    kinds[file] = FileKind::source;
  }
  EXPECT_EQ(order_of(words, kinds).front(), 1);
}

TEST(Ranking, DoesNotAskForWholeIdentifiers) {
  const std::vector<WordMatches> words = {{.extra = false, .scores = {{1, 4}, {2, 5}}},
                                          {.extra = true, .scores = {}}};
  EXPECT_THAT(order_of(words, {{1, FileKind::source}, {2, FileKind::source}}),
              ::testing::ElementsAre(2, 1));
}

TEST(FileKinds, FollowFromPaths) {
  EXPECT_EQ(kind_of("cutlass/examples/48_gemm/gemm.cu"), FileKind::example);
  EXPECT_EQ(kind_of("cutlass/test/unit/gemm.cu"), FileKind::test);
  EXPECT_EQ(kind_of("cutlass/include/detail/layout.hpp"), FileKind::internal);
  EXPECT_EQ(kind_of("cutlass/include/examples.hpp"), FileKind::source);
  EXPECT_EQ(kind_of("cutlass/examples/run.py"), FileKind::script);
  EXPECT_EQ(kind_of("cutlass/media/pipeline.md"), FileKind::document);
  EXPECT_TRUE(is_read("a/b.cuh"));
  EXPECT_FALSE(is_read("a.cu/b"));
  EXPECT_FALSE(is_read("picture.png"));
}

}  // namespace
}  // namespace kernelpro::code
