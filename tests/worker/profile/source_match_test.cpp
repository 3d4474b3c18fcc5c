#include "worker/profile/source_match.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "worker/profile/data.hpp"
#include "worker/profile/mutate.hpp"
#include "worker/profile/ncu_report.hpp"

namespace kernelpro {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

NcuSourceReport page(const std::vector<std::pair<std::string, int>>& blocks) {
  NcuSourceReport report;
  for (const auto& [name, times] : blocks) {
    report.kernels.emplace_back().name = name;
    report.kernels.back().blocks = times;
  }
  return report;
}

std::string problem(const NcuSourceReport& source, const std::vector<std::string>& launches) {
  const Result<std::vector<std::size_t>> matched = match_source(source, launches);
  return matched ? "" : matched.error().text();
}

TEST(BareName, LeavesOutAllThatThePagesWriteDifferently) {
  for (const char* name : {
           "scale",
           "scale(float *, int)",
           "void scale<float>(T1 *, int)",
           "void <unnamed>::scale<<unnamed>::Cfg<1, 3>>(float *, const float *, int)",
           "void <unnamed>::scale<<unnamed>::Cfg<(<unnamed>::Mode)1, (int)3>>(float *)",
           "void (anonymous namespace)::scale<(anonymous namespace)::Mode>(float*)",
           "_ZN12_GLOBAL__N_15scaleINS_3CfgILNS_4ModeE1ELi3EEEEEvPfPKfi",
           "void a::b<int>::c::scale<(bool)1>(void (*)(int))",
           "void a::scale<T1, (unsigned int)3, a::Less<(char)'<'>>(int)",
       }) {
    EXPECT_EQ(bare_name(name), "scale") << name;
  }
}

TEST(BareName, OfOddTextsIsSomething) {
  EXPECT_EQ(bare_name("_Znonsense"), "_Znonsense");
  EXPECT_EQ(bare_name(""), "");
  Random random(7);
  for (int i = 0; i < 20'000; ++i) {
    (void)bare_name(mutate("void <unnamed>::scale<a::Less<(char)3>>(float *, int)", random));
  }
}

TEST(SourceMatch, OfRealPages) {
  const Result<NcuRawReport> raw = read_ncu_raw(data("raw.csv"));
  ASSERT_TRUE(raw) << raw.error().text();
  std::vector<std::string> launches;
  for (const NcuLaunch& launch : raw->launches) {
    launches.push_back(launch.name);
  }
  for (const char* form : {"source_sass.csv", "source_lines.csv"}) {
    const Result<NcuSourceReport> source = read_ncu_source(data(form));
    ASSERT_TRUE(source) << source.error().text();
    EXPECT_NE(source->kernels[0].name, launches[0]);  // the pages write templates differently
    const auto matched = match_source(*source, launches);
    ASSERT_TRUE(matched) << matched.error().text();
    EXPECT_THAT(*matched, ElementsAre(0, 1, 2, 3));
  }
}

TEST(SourceMatch, LaunchesOfOneKernelFollowEachOther) {
  const auto matched =
      match_source(page({{"a(int)", 1}, {"a(int)", 1}, {"b(int)", 1}, {"a(int)", 1}}),
                   {"a(int)", "a(int)", "b(int)", "a(int)"});
  ASSERT_TRUE(matched) << matched.error().text();
  EXPECT_THAT(*matched, ElementsAre(0, 1, 2, 3));
}

TEST(SourceMatch, LaunchesWithTheSameCountsShareABlock) {
  // Two launches that gave the same counts, each of them printed twice.
  const auto matched = match_source(page({{"a(int)", 4}, {"b(int)", 2}}), {"a", "a", "b"});
  ASSERT_TRUE(matched) << matched.error().text();
  EXPECT_THAT(*matched, ElementsAre(0, 0, 1));
}

TEST(SourceMatch, InstancesOfOneTemplateStandInOrder) {
  const auto matched = match_source(page({{"void t<(int)1>(int)", 2}, {"void t<(int)2>(int)", 2}}),
                                    {"void t<1>(int)", "void t<2>(int)"});
  ASSERT_TRUE(matched) << matched.error().text();
  EXPECT_THAT(*matched, ElementsAre(0, 1));
}

TEST(SourceMatch, WhatDoesNotAgreeIsNotMatched) {
  EXPECT_THAT(problem(page({{"a(int)", 1}}), {"b(int)"}), HasSubstr("a stands where b was"));
  EXPECT_THAT(problem(page({{"a(int)", 1}}), {"a(int)", "b(int)"}), HasSubstr("1 times"));
  EXPECT_THAT(problem(page({{"a(int)", 1}}), {"a(int)", "a(int)"}),
              HasSubstr("1 blocks and 2 launches"));
  EXPECT_THAT(problem(page({{"a(int)", 1}, {"a(int)", 1}, {"a(int)", 1}}), {"a", "a"}),
              HasSubstr("3 blocks and 2 launches"));
  EXPECT_THAT(problem(page({{"a(int)", 1}, {"a(int)", 1}}), {"a(int)"}),
              HasSubstr("2 different blocks for one launch"));
  EXPECT_THAT(problem(page({{"a(int)", 3}, {"a(int)", 1}}), {"a", "a"}),
              HasSubstr("different blocks"));
}

}  // namespace
}  // namespace kernelpro
