#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "worker/diagnose/tools/profile_maker.hpp"

namespace kernelpro {
namespace {

TEST(HmmaWhereHgmmaTest, PromisesNoMoreThanTheFactorOfTheInstructions) {
  const Finding finding = run_tool("hmma_where_hgmma", with_hmma()).findings.at(0);
  // 60 % of the time at the pipe, at 0.62 of the rate; good products reach three quarters.
  EXPECT_NEAR(finding.predicted_gain, 1 / (0.6 * 0.62 / 0.75), 1e-9);
  Profile idle = with_hmma();
  set(idle, figure::tensor_use, 0.15);
  EXPECT_LE(gain_by("hmma_where_hgmma", idle), 4);
}

TEST(HmmaWhereHgmmaTest, AFullPipeGainsTheRatioOfRates) {
  Profile profile = with_hmma();
  set(profile, figure::tensor_use, 0.9);
  EXPECT_NEAR(gain_by("hmma_where_hgmma", profile), 0.75 / 0.9 / 0.62, 1e-9);
}

TEST(HmmaWhereHgmmaTest, OnHopperOnly) {
  Profile profile = with_hmma();
  profile.architecture = "sm_90a";
  EXPECT_TRUE(finds("hmma_where_hgmma", profile));
  for (const char* other : {"sm_80", "sm_89", "sm_100a"}) {
    profile.architecture = other;
    const ToolResult result = run_tool("hmma_where_hgmma", profile);
    EXPECT_TRUE(result.findings.empty()) << other;
    EXPECT_TRUE(result.not_available.empty()) << other;
  }
  profile.architecture.clear();
  EXPECT_FALSE(run_tool("hmma_where_hgmma", profile).not_available.empty());
}

TEST(HmmaWhereHgmmaTest, NotBesideWarpGroupInstructions) {
  Profile profile = with_hmma();
  code_of(profile).mix["hgmma"] = 1e5;
  EXPECT_FALSE(finds("hmma_where_hgmma", profile));
}

TEST(HmmaWhereHgmmaTest, NotForASkinnyProductBoundByDram) {
  Profile profile = with_hmma();
  set(profile, figure::dram_use, 0.88);
  set(profile, figure::tensor_use, 0.2);
  EXPECT_FALSE(finds("hmma_where_hgmma", profile));
}

TEST(HmmaWhereHgmmaTest, NotForAShallowProductNearerToTheRoofOfDram) {
  Profile profile = with_hmma();
  set(profile, figure::dram_use, 0.6);
  set(profile, figure::tensor_use, 0.12);
  EXPECT_FALSE(finds("hmma_where_hgmma", profile));
  // Small tiles are read again and again: that is no property of the product.
  set(profile, figure::dram_use, 0.35);
  EXPECT_TRUE(finds("hmma_where_hgmma", profile));
}

TEST(HmmaWhereHgmmaTest, NotForAFewOrForAShortOrLonelyKernel) {
  Profile few = with_hmma();
  code_of(few).mix["hmma"] = 1e6;
  EXPECT_FALSE(finds("hmma_where_hgmma", few));
  Profile brief = with_hmma();
  set(brief, figure::duration_ns, 5000);
  EXPECT_FALSE(finds("hmma_where_hgmma", brief));
  Profile lonely = with_hmma();
  set(lonely, figure::sm_active_mean, 0.5e6);
  EXPECT_FALSE(finds("hmma_where_hgmma", lonely));
}

TEST(HmmaWhereHgmmaTest, IntegersToo) {
  Profile profile = with_hmma();
  code_of(profile).mix.erase("hmma");
  code_of(profile).mix["imma"] = 2e7;
  EXPECT_TRUE(finds("hmma_where_hgmma", profile));
}

}  // namespace
}  // namespace kernelpro
