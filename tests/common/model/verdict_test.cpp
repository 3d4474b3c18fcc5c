#include "common/model/verdict.hpp"

#include <gtest/gtest.h>

#include <set>

namespace kernelpro {
namespace {

TEST(VerdictTest, OutcomesHaveTheNamesOfTheContract) {
  EXPECT_EQ(name_of(Outcome::passed), "passed");
  EXPECT_EQ(name_of(Outcome::out_of_memory), "out_of_memory");
  EXPECT_EQ(name_of(Outcome::cheated), "cheated");
  EXPECT_EQ(name_of(Outcome::not_judged), "not_judged");
}

TEST(VerdictTest, NamesAreReadBack) {
  std::set<std::string_view> names;
  for (int i = 0; i <= static_cast<int>(Outcome::not_judged); ++i) {
    const auto outcome = static_cast<Outcome>(i);
    EXPECT_EQ(parse_outcome(name_of(outcome)), outcome);
    names.insert(name_of(outcome));
  }
  EXPECT_EQ(names.size(), 10U);
  EXPECT_EQ(parse_outcome("Passed"), std::nullopt);
  EXPECT_EQ(parse_outcome(""), std::nullopt);
}

TEST(VerdictTest, StagesAreNamedInTheOrderOfJudging) {
  EXPECT_EQ(name_of(Stage::build), "build");
  EXPECT_EQ(name_of(Stage::held_out), "held_out");
  EXPECT_EQ(name_of(Stage::distributions), "distributions");
  EXPECT_EQ(name_of(Stage::memory), "memory");
  EXPECT_EQ(name_of(Stage::done), "done");
}

}  // namespace
}  // namespace kernelpro
