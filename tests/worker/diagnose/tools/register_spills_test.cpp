#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "worker/diagnose/tools/profile_maker.hpp"

namespace kernelpro {
namespace {

TEST(RegisterSpillsTest, NamesTheLinesThatSpillMost) {
  const Finding finding = run_tool("register_spills", with_register_spills()).findings.at(0);
  ASSERT_EQ(finding.places.size(), 2U);
  EXPECT_EQ(finding.places[0].line, 16);
  EXPECT_EQ(finding.places[1].line, 17);
  EXPECT_NEAR(finding.observed, 0.12, 1e-9);
}

TEST(RegisterSpillsTest, NotOutsideOfHotCode) {
  Profile profile = with_register_spills();
  code_of(profile).memory[0].executed = 1e4;
  code_of(profile).memory[1].executed = 1e4;
  EXPECT_FALSE(finds("register_spills", profile));
}

TEST(RegisterSpillsTest, NotWithoutAny) {
  Profile profile = with_register_spills();
  code_of(profile).memory = {wide_load(10)};
  EXPECT_FALSE(finds("register_spills", profile));
}

TEST(RegisterSpillsTest, NotWhenDramIsFullOfGlobalTraffic) {
  Profile profile = with_register_spills();
  set(profile, figure::dram_use, 0.88);
  EXPECT_FALSE(finds("register_spills", profile));
}

TEST(RegisterSpillsTest, ButWhenDramIsFullOfLocalTraffic) {
  Profile profile = with_register_spills();
  set(profile, figure::dram_use, 0.88);
  set(profile, figure::dram_read_bytes, 5e9);
  EXPECT_TRUE(finds("register_spills", profile));
}

TEST(RegisterSpillsTest, NotWhenWarpsWaitForGlobalLoadsAlone) {
  Profile profile = with_register_spills();
  code_of(profile).memory[0].executed = 1e6;
  code_of(profile).memory[1].executed = 1e6;
  for (int i = 0; i < 15; ++i) {
    code_of(profile).memory.push_back(wide_load(20 + i));
  }
  EXPECT_FALSE(finds("register_spills", profile));
}

TEST(RegisterSpillsTest, AsInstructionsWhenIssueSlotsAreFull) {
  Profile profile = with_register_spills();
  set_stalls(profile, {{"not_selected", 0.5}});
  set(profile, figure::issue_use, 0.88);
  code_of(profile).memory[0].executed = 20e6;
  EXPECT_TRUE(finds("register_spills", profile));
}

}  // namespace
}  // namespace kernelpro
