#include "worker/judge/correctness.hpp"

#include <gmock/gmock.h>

#include <set>

#include "common/base/secret.hpp"
#include "support/keys.hpp"
#include "support/small_task.hpp"

namespace kernelpro {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using namespace kernelpro::testing;

constexpr int held_out_shapes = 4;

Task task_with_derived_axis() {
  Task task = small_task();
  task.axes.push_back({"twice", formula("2*n")});
  task.timed_shapes = {{{"n", 700}}, {{"n", 900}}};
  task.held_out = {{"n", {3, 40}}};
  return task;
}

std::vector<CheckCase> cases_of(std::uint64_t master) {
  Result<std::vector<CheckCase>> cases =
      draw_cases(task_with_derived_axis(), task_with_derived_axis().timed_shapes,
                 numbered_key(master), held_out_shapes);
  EXPECT_TRUE(cases) << cases.error().text();
  return std::move(*cases);
}

std::vector<CheckCase> of_stage(const std::vector<CheckCase>& cases, Stage stage) {
  std::vector<CheckCase> out;
  for (const CheckCase& item : cases) {
    if (item.stage == stage) {
      out.push_back(item);
    }
  }
  return out;
}

TEST(Cases, AreAFunctionOfTheMaster) {
  const std::vector<CheckCase> first = cases_of(7);
  const std::vector<CheckCase> again = cases_of(7);
  ASSERT_EQ(first.size(), again.size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(first[i].stage, again[i].stage);
    EXPECT_EQ(first[i].draw.axes, again[i].draw.axes);
    EXPECT_EQ(first[i].draw.values.key, again[i].draw.values.key);
    EXPECT_EQ(first[i].draw.scalar_key, again[i].draw.scalar_key);
    EXPECT_EQ(first[i].draw.values.distribution, again[i].draw.values.distribution);
    EXPECT_FALSE(first[i].draw.values.key == cases_of(8)[i].draw.values.key);
  }
}

TEST(Cases, GoThroughTheStagesInOrder) {
  std::vector<Stage> stages;
  for (const CheckCase& item : cases_of(7)) {
    if (stages.empty() || stages.back() != item.stage) {
      stages.push_back(item.stage);
    }
  }
  EXPECT_THAT(stages, ElementsAre(Stage::smoke, Stage::timed_shapes, Stage::held_out,
                                  Stage::distributions, Stage::repeatability, Stage::memory));
}

TEST(Cases, TakeTheTimedShapesAsTheyAreAndDrawTheOthersFromTheRange) {
  std::set<std::int64_t> drawn;
  for (std::uint64_t master = 0; master < 200; ++master) {
    const std::vector<CheckCase> cases = cases_of(master);
    const std::vector<CheckCase> timed = of_stage(cases, Stage::timed_shapes);
    ASSERT_EQ(timed.size(), 2U);
    EXPECT_EQ(timed[0].draw.axes, (Axes{{"n", 700}, {"twice", 1400}}));
    EXPECT_EQ(timed[1].draw.axes, (Axes{{"n", 900}, {"twice", 1800}}));
    for (const CheckCase& item : cases) {
      if (item.stage != Stage::timed_shapes) {
        drawn.insert(item.draw.axes.at("n"));
        EXPECT_EQ(item.draw.axes.at("twice"), 2 * item.draw.axes.at("n"));
      }
    }
  }
  EXPECT_EQ(*drawn.begin(), 3) << "the lower end is never drawn";
  EXPECT_EQ(*drawn.rbegin(), 40) << "the upper end is never drawn";
}

TEST(Cases, HaveBothEndsOfEveryRangeAmongTheHeldOutShapes) {
  for (std::uint64_t master = 0; master < 20; ++master) {
    std::set<std::int64_t> held_out;
    for (const CheckCase& item : of_stage(cases_of(master), Stage::held_out)) {
      held_out.insert(item.draw.axes.at("n"));
    }
    EXPECT_THAT(held_out, IsSupersetOf({3, 40}));
  }
}

TEST(Cases, HaveASizeThatIsOneMoreThanABlock) {
  Task task = task_with_derived_axis();
  task.held_out = {{"n", {1, 5000, 1}}};
  for (std::uint64_t master = 0; master < 20; ++master) {
    const auto cases = draw_cases(task, task.timed_shapes, numbered_key(master), held_out_shapes);
    ASSERT_TRUE(cases) << cases.error().text();
    std::set<std::int64_t> rests;
    for (const CheckCase& item : of_stage(*cases, Stage::held_out)) {
      rests.insert(item.draw.axes.at("n") % 64);
    }
    EXPECT_TRUE(rests.contains(1));
  }
}

TEST(Cases, HaveTwoShapesInARowThatDifferInOneSize) {
  Task task = task_with_derived_axis();
  task.axes.push_back({"m", {}});
  task.timed_shapes = {{{"n", 700}, {"m", 9}}};
  task.held_out = {{"n", {1, 5000, 1}}, {"m", {1, 5000, 1}}};
  const auto cases = draw_cases(task, task.timed_shapes, numbered_key(7), held_out_shapes);
  ASSERT_TRUE(cases) << cases.error().text();
  const Axes before = of_stage(*cases, Stage::repeatability).front().draw.axes;
  const Axes next = of_stage(*cases, Stage::memory).front().draw.axes;
  EXPECT_NE(before.at("n") == next.at("n"), before.at("m") == next.at("m"));
}

TEST(Cases, AreDrawnOnTheStepsOfTheRange) {
  Task task = task_with_derived_axis();
  task.held_out = {{"n", {8, 63, 8}}};
  std::set<std::int64_t> drawn;
  for (std::uint64_t master = 0; master < 200; ++master) {
    const auto cases = draw_cases(task, task.timed_shapes, numbered_key(master), held_out_shapes);
    ASSERT_TRUE(cases) << cases.error().text();
    for (const CheckCase& item : of_stage(*cases, Stage::held_out)) {
      drawn.insert(item.draw.axes.at("n"));
    }
  }
  EXPECT_THAT(drawn, ElementsAre(8, 16, 24, 32, 40, 48, 56));
}

TEST(Cases, HaveAsManyHeldOutShapesAsAskedForAndEveryDistribution) {
  const std::vector<CheckCase> cases = cases_of(7);
  EXPECT_EQ(of_stage(cases, Stage::held_out).size(), std::size_t{held_out_shapes});
  std::set<Distribution> distributions;
  for (const CheckCase& item : of_stage(cases, Stage::distributions)) {
    distributions.insert(item.draw.values.distribution);
  }
  EXPECT_EQ(distributions.size(), std::size(all_distributions));
}

TEST(Cases, DrawNoValuesTwice) {
  std::set<std::string> keys;
  const std::vector<CheckCase> cases = cases_of(7);
  for (const CheckCase& item : cases) {
    keys.insert(key_text(item.draw.values.key));
  }
  EXPECT_EQ(keys.size(), cases.size());
}

TEST(Cases, AreMadeAgainFromACertificatesRecords) {
  const Task task = task_with_derived_axis();
  const std::vector<CheckCase> cases = cases_of(7);
  std::vector<CheckRecord> records;
  for (const CheckCase& item : cases) {
    CheckRecord record;
    record.stage = item.stage;
    record.shape = {{"n", item.draw.axes.at("n")}};
    record.distribution = name_of(item.draw.values.distribution);
    record.key = item.draw.values.key;
    records.push_back(record);
  }
  const Result<std::vector<CheckCase>> again = cases_from_records(task, records, numbered_key(7));
  ASSERT_TRUE(again) << again.error().text();
  ASSERT_EQ(again->size(), cases.size());
  for (std::size_t i = 0; i < cases.size(); ++i) {
    EXPECT_EQ((*again)[i].draw.axes, cases[i].draw.axes);
    EXPECT_EQ((*again)[i].draw.values.key, cases[i].draw.values.key);
    EXPECT_EQ((*again)[i].draw.scalar_key, cases[i].draw.scalar_key);
  }
  records[0].distribution = "lumpy";
  const Result<std::vector<CheckCase>> refused = cases_from_records(task, records, numbered_key(7));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text(), HasSubstr("unknown distribution \"lumpy\""));
}

}  // namespace
}  // namespace kernelpro
