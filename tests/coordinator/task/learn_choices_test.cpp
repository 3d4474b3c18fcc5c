#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "common/model/formula.hpp"
#include "coordinator/task/learn_parts.hpp"

namespace kernelpro::learn {
namespace {

double chosen(const std::string& formula, std::int64_t place) {
  const auto parsed = Formula::parse(formula);
  EXPECT_TRUE(parsed.ok()) << formula;
  const auto value = parsed->evaluate({{"c", place}});
  EXPECT_TRUE(value.ok()) << formula;
  return value.ok() ? *value : -1e9;
}

TEST(LearnChoices, AFormulaGivesEachNumberAtItsPlace) {
  const std::vector<std::vector<std::int64_t>> lists = {
      {0, 1}, {1, -1}, {78, 84}, {1, 2, 4, 8}, {5, 3, 9, -7, 0, 12}};
  for (const auto& values : lists) {
    std::vector<Enumerator> choices;
    choices.reserve(values.size());
    for (const std::int64_t value : values) {
      choices.push_back({"", value});
    }
    const std::string formula = choice_formula(choices, "c");
    for (std::size_t i = 0; i < values.size(); ++i) {
      EXPECT_EQ(chosen(formula, static_cast<std::int64_t>(i) + 1), values[i]) << formula;
    }
    // A caller's size of zero is no number of its own.
    EXPECT_EQ(chosen(formula, 0), values[0]) << formula;
  }
}

TEST(LearnChoices, TheLongestRunOfAnEnumIsDrawn) {
  const EnumeratorRun run = longest_run({{"a", 9}, {"b", 1}, {"c", 3}, {"d", 2}, {"e", 7}});
  EXPECT_EQ(run.low, 1);
  EXPECT_EQ(run.high, 3);
}

}  // namespace
}  // namespace kernelpro::learn
