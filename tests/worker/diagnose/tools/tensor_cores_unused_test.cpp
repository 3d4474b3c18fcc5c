#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "worker/diagnose/tools/profile_maker.hpp"

namespace kernelpro {
namespace {

using testing::HasSubstr;

TEST(TensorCoresUnusedTest, SaysTheTypeAndWhatItCostsInPrecision) {
  const Finding finding =
      run_tool("tensor_cores_unused", with_tensor_cores_unused()).findings.at(0);
  EXPECT_THAT(finding.title, HasSubstr("f32"));
  EXPECT_THAT(finding.moves, testing::Contains(HasSubstr("TF32 keeps 10 bits")));
  EXPECT_THAT(finding.derivation, HasSubstr("tf32"));
  EXPECT_EQ(finding.places.at(0).line, 40);
}

TEST(TensorCoresUnusedTest, TheDeclaredTypeDecides) {
  Profile profile = with_tensor_cores_unused();
  profile.work = DeclaredWork{1, 1, 1, "f16", 1};
  const Finding finding = run_tool("tensor_cores_unused", profile).findings.at(0);
  EXPECT_THAT(finding.title, HasSubstr("f16"));
  EXPECT_THAT(finding.moves, testing::Not(testing::Contains(HasSubstr("TF32"))));
}

TEST(TensorCoresUnusedTest, NotForAMatrixVectorProduct) {
  Profile profile = with_tensor_cores_unused();
  // Two operations for each four bytes, which come from DRAM.
  set(profile, figure::dram_read_bytes, 2.4e7 * 64 * 2);
  set(profile, figure::dram_use, 0.9);
  EXPECT_FALSE(finds("tensor_cores_unused", profile));
  // A small one, whose matrix lies in L2.
  set(profile, figure::dram_read_bytes, 1e7);
  set(profile, figure::dram_use, 0.05);
  set(profile, figure::l2_bytes, 2.4e7 * 64 * 2);
  EXPECT_FALSE(finds("tensor_cores_unused", profile));
}

TEST(TensorCoresUnusedTest, NotWhenTheyAreUsed) {
  for (const char* kind : {"hmma", "imma", "dmma", "hgmma", "igmma", "qgmma"}) {
    Profile profile = with_tensor_cores_unused();
    code_of(profile).mix[kind] = 1000;
    EXPECT_FALSE(finds("tensor_cores_unused", profile)) << kind;
  }
}

TEST(TensorCoresUnusedTest, NotForAProductThatIsAsmallPartOfTheWork) {
  Profile profile = with_tensor_cores_unused();
  code_of(profile).dot_steps = 2e6;
  EXPECT_FALSE(finds("tensor_cores_unused", profile));
}

TEST(TensorCoresUnusedTest, NotWhenDramBoundsItAnyway) {
  Profile profile = with_tensor_cores_unused();
  set(profile, figure::dram_use, 0.88);
  EXPECT_FALSE(finds("tensor_cores_unused", profile));
}

TEST(TensorCoresUnusedTest, WithoutACeilingThereIsNoGainToDerive) {
  Profile profile = with_tensor_cores_unused();
  profile.ceilings.list.clear();
  const ToolResult result = run_tool("tensor_cores_unused", profile);
  EXPECT_TRUE(result.findings.empty());
  EXPECT_THAT(result.not_available,
              testing::ElementsAre(HasSubstr("no measured ceiling of tensor cores for tf32")));
}

TEST(TensorCoresUnusedTest, LoopsWithoutCountsAreSaid) {
  Profile profile = with_tensor_cores_unused();
  code_of(profile).loops[0].executed.reset();
  EXPECT_FALSE(finds("tensor_cores_unused", profile));
}

}  // namespace
}  // namespace kernelpro
