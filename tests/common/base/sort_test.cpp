#include "common/base/sort.hpp"

#include <gmock/gmock.h>

#include <string>

namespace kernelpro {
namespace {

using ::testing::ElementsAre;

TEST(Sort, KeepsTheOrderOfEquals) {
  std::vector<std::string> words = {"bb", "a", "cc", "ddd", "e", "ff"};
  sort_keeping_ties(words,
                    [](const std::string& a, const std::string& b) { return a.size() > b.size(); });
  EXPECT_THAT(words, ElementsAre("ddd", "bb", "cc", "ff", "a", "e"));
}

}  // namespace
}  // namespace kernelpro
