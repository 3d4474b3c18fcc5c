#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <set>

#include "worker/diagnose/tools/profile_maker.hpp"
#include "worker/diagnose/tools/roofs.hpp"
#include "worker/diagnose/tools/tools.hpp"

namespace kernelpro {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

// Read where they are, and taken as no load where they are not.
bool is_only_further(const Tool& tool, const std::string& key) {
  static const std::map<std::string, std::set<std::string>> needed = {
      {"uncoalesced_access", {figure::dram_read_bytes, figure::dram_write_bytes, figure::l2_bytes}},
      {"excess_traffic", {figure::dram_read_bytes, figure::dram_write_bytes, figure::l2_bytes}},
      {"register_spills", {figure::dram_read_bytes, figure::dram_write_bytes, figure::l2_bytes}},
      {"narrow_loads", {figure::sm_active_mean, figure::sm_active_most}},
      {"long_scoreboard", {figure::sm_active_mean, figure::sm_active_most}},
      {"contended_atomics", {figure::atomic_use}},
      {"repeated_loads", {figure::dram_read_bytes}},
      {"block_shortage", {figure::duration_ns, figure::sm_active_mean, figure::sm_active_most}},
      {"tensor_cores_unused",
       {figure::dram_read_bytes, figure::dram_write_bytes, figure::l2_bytes, figure::duration_ns}},
      {"hmma_where_hgmma",
       {figure::tensor_use, figure::duration_ns, figure::sm_active_mean, figure::sm_active_most}}};
  static const std::map<std::string, std::set<std::string>> taken_where_they_are = {
      {"uncoalesced_access", {figure::l1_load_bytes, figure::l1_load_hit_bytes}}};
  const auto& further = further_roof_figures();
  const auto own = needed.find(tool.id);
  const auto taken = taken_where_they_are.find(tool.id);
  if (taken != taken_where_they_are.end() && taken->second.contains(key)) {
    return true;
  }
  return std::find(further.begin(), further.end(), key) != further.end() &&
         (own == needed.end() || !own->second.contains(key));
}

std::string text_of(const ToolResult& result) {
  std::string text;
  for (const std::string& line : result.not_available) {
    text += line + "\n";
  }
  return text;
}

TEST(AllToolsTest, ThereAreTwentyEachWithItsOwnName) {
  std::set<std::string> ids;
  std::set<std::string> titles;
  for (const Tool& tool : all_tools()) {
    ids.insert(tool.id);
    titles.insert(tool.title);
  }
  EXPECT_THAT(ids, SizeIs(20));
  EXPECT_THAT(titles, SizeIs(20));
}

TEST(AllToolsTest, EachFindsItsDefectAndSaysAllOfIt) {
  for (const Tool& tool : all_tools()) {
    SCOPED_TRACE(tool.id);
    const ToolResult result = run_tool(tool.id, defect(tool.id));
    ASSERT_THAT(result.findings, SizeIs(1)) << text_of(result);
    EXPECT_THAT(result.not_available, IsEmpty());
    const Finding& finding = result.findings.front();
    EXPECT_EQ(finding.tool, tool.id);
    EXPECT_EQ(finding.kernel, tool.reads_program() ? "" : "work(float*)");
    EXPECT_GE(finding.predicted_gain, 1.1);
    EXPECT_LE(finding.predicted_gain, 100);
    for (const std::string& text :
         {finding.title, finding.unit, finding.why, finding.cause, finding.derivation}) {
      EXPECT_THAT(text, Not(IsEmpty()));
      EXPECT_THAT(text, Not(HasSubstr("nan")));
    }
    EXPECT_THAT(finding.derivation, testing::ContainsRegex("[0-9]"));
    EXPECT_THAT(finding.moves, Not(IsEmpty()));
    EXPECT_TRUE(std::isfinite(finding.observed));
  }
}

// So that `kernelpro tools` can tell what followed a finding.
TEST(AllToolsTest, EachNamesAMoveThatThereIs) {
  const std::filesystem::path moves = KERNELPRO_SOURCE_DIR "/knowledge/moves/cuda";
  for (const Tool& tool : all_tools()) {
    int named = 0;
    const Finding finding = run_tool(tool.id, defect(tool.id)).findings.at(0);
    for (const std::string& move : finding.moves) {
      if (move.find(' ') == std::string::npos) {
        ++named;
        EXPECT_TRUE(std::filesystem::exists(moves / (move + ".md"))) << tool.id << ": " << move;
      }
    }
    EXPECT_GE(named, 1) << tool.id;
  }
}

TEST(AllToolsTest, NoneFindsAnythingInAHealthyKernel) {
  const Profile profile = healthy();
  for (const Tool& tool : all_tools()) {
    EXPECT_THAT(run_tool(tool.id, profile).findings, IsEmpty()) << tool.id;
  }
}

TEST(AllToolsTest, AMissingFigureIsSaidAndNothingIsFound) {
  for (const Tool& tool : all_tools()) {
    for (const std::string& key : tool.figures) {
      SCOPED_TRACE(tool.id + " without " + key);
      Profile profile = defect(tool.id);
      ASSERT_TRUE(profile.kernels.front().figures.contains(key));
      profile.kernels.front().figures.erase(key);
      profile.kernels.front().missing[key] = "this GPU does not count it";
      const ToolResult result = run_tool(tool.id, profile);
      if (is_only_further(tool, key)) {
        EXPECT_THAT(result.not_available, IsEmpty());
        continue;
      }
      EXPECT_THAT(result.findings, IsEmpty());
      EXPECT_THAT(text_of(result), HasSubstr(key + " (this GPU does not count it)"));
    }
  }
}

TEST(AllToolsTest, AFigureThatCannotBeIsAsGoodAsMissing) {
  for (const Tool& tool : all_tools()) {
    for (const std::string& key : tool.figures) {
      for (const double value : {std::numeric_limits<double>::quiet_NaN(),
                                 std::numeric_limits<double>::infinity(), -1.0}) {
        SCOPED_TRACE(tool.id + " " + key);
        Profile profile = defect(tool.id);
        set(profile, key.c_str(), value);
        for (const Finding& finding : run_tool(tool.id, profile).findings) {
          EXPECT_TRUE(is_only_further(tool, key));
          EXPECT_TRUE(std::isfinite(finding.predicted_gain));
        }
      }
    }
  }
}

TEST(AllToolsTest, NothingAtAllIsSaidAndNothingIsFound) {
  for (const Tool& tool : all_tools()) {
    SCOPED_TRACE(tool.id);
    for (const bool with_kernel : {false, true}) {
      Profile empty;
      if (with_kernel) {
        empty.kernels.emplace_back();
      }
      const ToolResult result = run_tool(tool.id, empty);
      EXPECT_THAT(result.findings, IsEmpty());
      EXPECT_THAT(result.not_available, Not(IsEmpty()));
    }
  }
}

TEST(AllToolsTest, WhatSamplesOrCountsAreNeededForIsSaid) {
  const std::set<std::string> without_samples = {"excess_traffic", "tensor_cores_unused",
                                                 "hmma_where_hgmma"};
  for (const Tool& tool : all_tools()) {
    if (tool.reads_program()) {
      continue;
    }
    SCOPED_TRACE(tool.id);
    Profile few = defect(tool.id);
    few.kernels.front().stalls = {{"long_scoreboard", 30}};
    EXPECT_EQ(finds(tool.id, few), without_samples.contains(tool.id));
    if (!without_samples.contains(tool.id)) {
      EXPECT_THAT(text_of(run_tool(tool.id, few)), HasSubstr("30 samples of warps"));
    }
  }
}

TEST(AllToolsTest, CodeThatIsMissingOrNotCountedIsSaid) {
  for (const char* id :
       {"uncoalesced_access", "narrow_loads", "bank_conflicts", "register_spills",
        "long_scoreboard", "contended_atomics", "tensor_cores_unused", "hmma_where_hgmma",
        "divergent_warps", "accidental_double", "slow_arithmetic", "integer_division",
        "repeated_loads", "memory_fences"}) {
    SCOPED_TRACE(id);
    Profile without = defect(id);
    without.kernels.front().code.reset();
    EXPECT_FALSE(finds(id, without));
    EXPECT_THAT(text_of(run_tool(id, without)), HasSubstr("no machine code"));
    Profile not_counted = defect(id);
    code_of(not_counted).counted = false;
    EXPECT_FALSE(finds(id, not_counted));
    EXPECT_THAT(text_of(run_tool(id, not_counted)), HasSubstr("no counts at the instructions"));
  }
}

TEST(AllToolsTest, DeniedCountersAreGivenAsTheReason) {
  Profile profile;
  profile.counters = "the driver denies counters (ERR_NVGPUCTRPERM)";
  profile.kernels.emplace_back();
  EXPECT_THAT(text_of(run_tool("barrier_stalls", profile)), HasSubstr("ERR_NVGPUCTRPERM"));
}

TEST(AllToolsTest, AKernelThatTakesLittleOfTheProgramGivesAFindingOfThatMuch) {
  Profile profile = with_barrier_stalls();
  const double whole = gain_by("barrier_stalls", profile);
  profile.kernels.front().share = 0.5;
  const double half = gain_by("barrier_stalls", profile);
  EXPECT_NEAR(half, 1 / (1 - 0.5 * (1 - 1 / whole)), 1e-9);
  EXPECT_THAT(run_tool("barrier_stalls", profile).findings.front().derivation,
              HasSubstr("50 % of all kernels' time"));
  profile.kernels.front().share = 0.01;
  EXPECT_FALSE(finds("barrier_stalls", profile));
}

TEST(AllToolsTest, SeverityFollowsTheGainForTheProgram) {
  Profile profile = with_contended_atomics();
  EXPECT_EQ(run_tool("contended_atomics", profile).findings.front().severity, Severity::high);
  profile.kernels.front().share = 0.25;
  EXPECT_EQ(run_tool("contended_atomics", profile).findings.front().severity, Severity::medium);
  profile.kernels.front().share = 0.1;
  EXPECT_EQ(run_tool("contended_atomics", profile).findings.front().severity, Severity::low);
}

TEST(AllToolsTest, OtherThresholdsGiveOtherFindings) {
  for (const Tool& tool : all_tools()) {
    Thresholds strict;
    strict.least_kernel_gain = 1000;
    EXPECT_THAT(run_tool(tool.id, defect(tool.id), strict).findings, IsEmpty()) << tool.id;
  }
}

}  // namespace
}  // namespace kernelpro
