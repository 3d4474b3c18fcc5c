#include "coordinator/report/kernelbench_table.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "coordinator/report/suite_records.hpp"

namespace kernelpro {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::passed_candidate;
using testing::suite_record;

// As fast as eager as it comes, twice as fast as the judge's own baseline.
SuiteRecord in_the_contract() {
  SuiteRecord record = suite_record(
      {1, 1}, {{"eager", 100}, {"eager-fp32", 200}, {"eager-tf32", 50}, {"compile", 100}});
  record.candidate = passed_candidate(2);
  return record;
}

// Eight times as fast as the judge's baseline, because it is less precise.
SuiteRecord in_tf32() {
  SuiteRecord record =
      suite_record({1, 2}, {{"eager", 200}, {"eager-fp32", 200}, {"eager-tf32", 50}});
  record.candidate = passed_candidate(8);
  record.candidate->precision = "tf32";
  record.candidate->share_of_bound = 0.125;
  return record;
}

SuiteRecord incorrect() {
  SuiteRecord record = suite_record(
      {1, 3}, {{"eager", 100}, {"eager-fp32", 100}, {"eager-tf32", 100}, {"compile", 50}});
  record.candidate = SuiteCandidate();
  record.candidate->outcome = Outcome::incorrect;
  record.candidate->summary = "output_0[3] is 1, expected 2";
  return record;
}

SuiteRecord degenerate() {
  SuiteRecord record = suite_record(
      {1, 4}, {{"eager", 100}, {"eager-fp32", 100}, {"eager-tf32", 100}, {"compile", 100}});
  record.candidate = passed_candidate(50);
  record.degenerate = {"zeros pass"};
  return record;
}

SuiteRecord without_candidate() {
  return suite_record({1, 5}, {{"eager", 100}, {"eager-fp32", 100}, {"eager-tf32", 100}});
}

std::vector<SuiteRecord> level_1() {
  return {in_the_contract(), in_tf32(), incorrect(), degenerate(), without_candidate()};
}

void expect_counts(const SuiteColumn& column, std::size_t problems, std::size_t correct) {
  EXPECT_EQ(column.problems, problems) << column.key;
  EXPECT_EQ(column.correct, correct) << column.key;
}

void expect_shares(const SuiteColumn& column, const std::vector<double>& fast) {
  EXPECT_THAT((std::vector{column.fast_0, column.fast_1, column.fast_1_5, column.fast_2}),
              ::testing::Pointwise(::testing::DoubleEq(), fast))
      << column.key;
}

TEST(SuiteTable, CountsCandidatesInFourWays) {
  const SuiteSummary summary = summarize_suite(level_1(), true, false);
  ASSERT_EQ(summary.groups.size(), 1U);
  const std::vector<SuiteColumn>& columns = summary.groups[0].columns;
  ASSERT_EQ(columns.size(), 4U);
  // Speed-ups of 1, 8 and 50.
  EXPECT_EQ(columns[0].key, "as_is");
  expect_counts(columns[0], 5, 3);
  expect_shares(columns[0], {0.6, 0.4, 0.4, 0.4});
  EXPECT_NEAR(columns[0].mean_of_correct, 7.3681, 1e-4);
  EXPECT_NEAR(columns[0].mean_of_all, 3.3145, 1e-4);
  EXPECT_NEAR(columns[0].share_of_bound, 0.31498, 1e-5);
  // 1 and 8.
  EXPECT_EQ(columns[1].key, "degenerate_removed");
  expect_counts(columns[1], 4, 2);
  expect_shares(columns[1], {0.5, 0.25, 0.25, 0.25});
  EXPECT_NEAR(columns[1].mean_of_correct, 2.8284, 1e-4);
  EXPECT_NEAR(columns[1].mean_of_all, 1.6818, 1e-4);
  EXPECT_NEAR(columns[1].share_of_bound, 0.25, 1e-9);
  // 2 and 2: twice as fast is not more than twice.
  EXPECT_EQ(columns[2].key, "precision_matched");
  expect_counts(columns[2], 4, 2);
  expect_shares(columns[2], {0.5, 0.5, 0.5, 0});
  EXPECT_NEAR(columns[2].mean_of_correct, 2, 1e-9);
  EXPECT_NEAR(columns[2].mean_of_all, 1.41421, 1e-5);
  // 1, and one incorrect: as fast is not faster.
  EXPECT_EQ(columns[3].key, "against_compile");
  expect_counts(columns[3], 2, 1);
  expect_shares(columns[3], {0.5, 0, 0, 0});
  EXPECT_NEAR(columns[3].mean_of_correct, 1, 1e-9);
}

TEST(SuiteTable, LevelsStandAloneAndTogether) {
  std::vector<SuiteRecord> records = level_1();
  SuiteRecord other = in_the_contract();
  other.problem = {3, 1};
  records.push_back(other);
  const SuiteSummary summary = summarize_suite(records, true, false);
  ASSERT_EQ(summary.groups.size(), 3U);
  EXPECT_EQ(summary.groups[0].level, 1);
  EXPECT_EQ(summary.groups[1].level, 3);
  expect_counts(summary.groups[1].columns[0], 1, 1);
  EXPECT_EQ(summary.groups[2].level, std::nullopt);
  expect_counts(summary.groups[2].columns[0], 6, 4);
}

TEST(SuiteTable, MediansOfRoundsScaleTheSpeedup) {
  SuiteRecord record = in_the_contract();
  record.times["eager"] = {10, 300, 900};
  EXPECT_DOUBLE_EQ(speedup_over(record, "eager").value(), 3);
  EXPECT_EQ(speedup_over(record, "nothing"), std::nullopt);
  record.times["eager-fp32"].clear();
  EXPECT_EQ(speedup_over(record, "eager"), std::nullopt);
}

TEST(SuiteTable, ASuspectCandidateIsAFailureUnlessAccepted) {
  SuiteRecord record = in_the_contract();
  record.candidate->suspect = true;
  const SuiteSummary strict = summarize_suite({record}, true, false);
  expect_counts(strict.groups[0].columns[2], 1, 0);
  EXPECT_DOUBLE_EQ(strict.groups[0].columns[2].mean_of_all, 1);
  EXPECT_THAT(suite_text(strict), HasSubstr("1 suspect, counted as failures: 1_1\n"));
  const SuiteSummary mild = summarize_suite({record}, true, true);
  expect_counts(mild.groups[0].columns[2], 1, 1);
  EXPECT_THAT(suite_text(mild), HasSubstr("1 suspect: 1_1\n"));
}

TEST(SuiteTable, ACorrectOneWithoutThatBaselineIsLeftOutOfTheColumn) {
  SuiteRecord record = in_tf32();
  record.times.erase("eager-tf32");
  const SuiteSummary summary = summarize_suite({record, incorrect()}, true, false);
  expect_counts(summary.groups[0].columns[1], 2, 1);
  expect_counts(summary.groups[0].columns[2], 1, 0);
}

TEST(SuiteTable, RefusedProblemsCountAsIsOnly) {
  SuiteRecord record = without_candidate();
  record.refused = "it is random in itself";
  const SuiteSummary summary = summarize_suite({record}, true, false);
  expect_counts(summary.groups[0].columns[0], 1, 0);
  expect_counts(summary.groups[0].columns[1], 0, 0);
  EXPECT_THAT(suite_text(summary), HasSubstr("1 refused: 1_5 (it is random in itself)\n"));
}

TEST(SuiteTable, WhatMustBeKnownIsNamedByReason) {
  std::vector<SuiteRecord> records = level_1();
  for (const int number : {6, 8}) {
    records.push_back(incorrect());
    records.back().problem = {1, number};
    records.back().candidate->outcome = Outcome::cheated;
    records.back().candidate->rule = "clock";
  }
  records.push_back(incorrect());
  records.back().problem = {1, 9};
  records.back().candidate->outcome = Outcome::not_judged;
  records.back().candidate->summary = "worker lost";
  records.push_back(in_the_contract());
  records.back().problem = {1, 10};
  records.back().candidate->verified = false;
  const std::string text = suite_text(summarize_suite(records, true, false));
  EXPECT_THAT(text, HasSubstr("\n2 cheated: 1_6, 1_8 (clock)\n"));
  EXPECT_THAT(text, HasSubstr("\n1 not judged: 1_9 (worker lost)\n"));
  EXPECT_THAT(text, HasSubstr("\n1 no candidate: 1_5\n"));
  EXPECT_THAT(text, HasSubstr("\n1 unverified (--sandbox none): 1_10\n"));
  EXPECT_THAT(text, HasSubstr("\n1 lower precision: 1_2 (tf32)\n"));
  EXPECT_THAT(text, HasSubstr("\n1 degenerate: 1_4 (zeros pass)\n"));
}

TEST(SuiteTable, TheTextHasARowForEachFigure) {
  const std::string text = suite_text(summarize_suite(level_1(), true, false));
  EXPECT_THAT(text,
              HasSubstr("level 1                as is  degenerate removed  precision matched  "
                        "against torch.compile\n"));
  EXPECT_THAT(text, HasSubstr("problems                   5                   4                  4"
                              "                      2\n"));
  EXPECT_THAT(text, HasSubstr("fast_1                  40 %                25 %               50 %"
                              "                    0 %\n"));
  EXPECT_THAT(text, HasSubstr("geomean of all          3.31                1.68               1.41"
                              "                   1.00\n"));
  EXPECT_THAT(text, HasSubstr("of the speed of light   31 %                25 %"));
}

TEST(SuiteTable, WithoutCandidatesTheBaselinesAreShown) {
  SuiteRecord lost = suite_record({1, 6}, {});
  lost.failed = "it was ended by signal 9";
  SuiteRecord refused = suite_record({1, 7}, {{"eager", 100}});
  refused.refused = "random";
  const SuiteSummary summary = summarize_suite(
      {in_the_contract(), in_tf32(), incorrect(), degenerate(), lost, refused}, false, false);
  ASSERT_EQ(summary.groups.size(), 1U);
  EXPECT_THAT(summary.groups[0].columns, IsEmpty());
  const SuiteBaselines& baselines = summary.groups[0].baselines;
  EXPECT_EQ(baselines.problems, 6U);
  EXPECT_EQ(baselines.measured, 4U);
  EXPECT_EQ(baselines.degenerate, 1U);
  EXPECT_EQ(baselines.refused, 1U);
  EXPECT_EQ(baselines.failed, 1U);
  EXPECT_NEAR(baselines.tf32_gain, 2, 1e-9);  // 4, 4, 1, 1
  EXPECT_EQ(baselines.compiled, 3U);
  EXPECT_NEAR(baselines.compile_gain, 1.5874, 1e-4);  // 2, 2, 1
  const std::string text = suite_text(summary);
  EXPECT_THAT(text, HasSubstr("TF32 gain"));
  EXPECT_THAT(text, HasSubstr("1 PyTorch gave no answer: 1_6 (it was ended by signal 9)\n"));
  EXPECT_THAT(text, Not(HasSubstr("no candidate")));
}

TEST(SuiteTable, NothingAtAllIsNoNumber) {
  const SuiteSummary summary = summarize_suite({}, true, false);
  EXPECT_THAT(summary.groups, IsEmpty());
  EXPECT_EQ(suite_text(summary), "");
  SuiteRecord lost = suite_record({2, 1}, {});
  lost.failed = "gone";
  const SuiteSummary one = summarize_suite({lost}, false, false);
  EXPECT_EQ(one.groups[0].baselines.tf32_gain, 0);
  EXPECT_THAT(suite_text(one), HasSubstr("–"));
}

TEST(SuiteTable, TheListingHasALineForEachProblem) {
  const std::string with = suite_listing(level_1());
  EXPECT_THAT(with, HasSubstr("1_Made_up"));
  EXPECT_THAT(with, HasSubstr("passed (tf32)"));
  EXPECT_THAT(with, HasSubstr("degenerate"));
  EXPECT_EQ(std::count(with.begin(), with.end(), '\n'), 7);
  EXPECT_THAT(suite_listing({without_candidate()}), Not(HasSubstr("speed-up")));
}

TEST(SuiteTable, JsonHasTheSameFigures) {
  const nlohmann::json json = suite_json(summarize_suite(level_1(), true, false));
  EXPECT_EQ(json["groups"][0]["level"], 1);
  EXPECT_EQ(json["groups"][0]["columns"][3]["column"], "against_compile");
  EXPECT_EQ(json["groups"][0]["columns"][1]["fast_1.5"], 0.25);
  EXPECT_EQ(json["remarks"][0]["what"], "no candidate");
  EXPECT_EQ(json["remarks"][0]["problems"], nlohmann::json::array({"1_5"}));
}

}  // namespace
}  // namespace kernelpro
