// What is left where no counter can be read.
#include "worker/profile/without_counters.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "common/base/file.hpp"
#include "common/model/figure_keys.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// One kernel of an H200, launched twice with different needs; the second launch stands for it.
Profile traced() {
  Profile profile;
  profile.architecture = "sm_90";
  profile.limits = {{"multiprocessors", 132}, {"warps", 64},
                    {"blocks", 32},           {"registers", 65536},
                    {"shared_bytes", 233472}, {"reserved_shared_bytes", 1024}};
  TracedLaunch launch;
  launch.index = 3;
  launch.name = "_Z3fewPfPKfi";
  launch.grid = {10, 1, 1};
  launch.block = {32, 1, 1};
  launch.registers = 16;
  TracedLaunch second = launch;
  second.index = 4;
  second.grid = {132, 2, 1};
  second.block = {16, 16, 2};
  second.registers = 64;
  second.static_shared_bytes = 1000;
  second.dynamic_shared_bytes = 2000;
  profile.trace.emplace();
  profile.trace->launches = {launch, second};
  KernelProfile kernel;
  kernel.name = "few(float*, float const*, int)";
  kernel.mangled = launch.name;
  kernel.launch = 4;
  profile.kernels = {kernel};
  return profile;
}

TEST(AddOccupancy, ComputesItFromTheLaunchThatStandsForTheKernel) {
  Profile profile = traced();
  profile.kernels[0].missing = {{figure::theoretical_occupancy, "denied"},
                                {figure::dram_use, "denied"}};
  add_occupancy(profile);
  const KernelProfile& kernel = profile.kernels[0];
  EXPECT_EQ(*kernel.figure(figure::registers), 64);
  EXPECT_EQ(*kernel.figure(figure::static_shared_bytes), 1000);
  EXPECT_EQ(*kernel.figure(figure::dynamic_shared_bytes), 2000);
  EXPECT_EQ(*kernel.figure(figure::limit_registers), 2);
  EXPECT_EQ(*kernel.figure(figure::limit_warps), 4);
  EXPECT_EQ(*kernel.figure(figure::limit_blocks), 32);
  EXPECT_EQ(*kernel.figure(figure::theoretical_occupancy), 0.5);
  EXPECT_EQ(*kernel.figure(figure::waves), 1);
  EXPECT_EQ(kernel.figures.at(figure::registers).origin, Origin::trace);
  EXPECT_EQ(kernel.figures.at(figure::waves).origin, Origin::arithmetic);
  EXPECT_FALSE(kernel.missing.contains(figure::theoretical_occupancy));
  EXPECT_EQ(kernel.missing.at(figure::dram_use), "denied");
}

TEST(AddOccupancy, LeavesWhatWasCounted) {
  Profile profile = traced();
  profile.kernels[0].figures[figure::theoretical_occupancy] = {0.25, Origin::counter};
  add_occupancy(profile);
  EXPECT_EQ(*profile.kernels[0].figure(figure::theoretical_occupancy), 0.25);
  EXPECT_EQ(profile.kernels[0].figures.at(figure::theoretical_occupancy).origin, Origin::counter);
}

TEST(AddOccupancy, WithoutTheGpusLimitsHasWhatTheLaunchSays) {
  Profile profile = traced();
  profile.limits.clear();
  add_occupancy(profile);
  EXPECT_EQ(*profile.kernels[0].figure(figure::registers), 64);
  EXPECT_FALSE(profile.kernels[0].figure(figure::theoretical_occupancy));
  EXPECT_FALSE(profile.kernels[0].figure(figure::waves));
}

TEST(AddOccupancy, WithoutTheNumberOfMultiprocessorsHasNoWaves) {
  Profile profile = traced();
  profile.limits.erase("multiprocessors");
  add_occupancy(profile);
  EXPECT_TRUE(profile.kernels[0].figure(figure::theoretical_occupancy));
  EXPECT_FALSE(profile.kernels[0].figure(figure::waves));
}

TEST(AddOccupancy, WithoutItsLaunchHasNothing) {
  Profile profile = traced();
  profile.kernels[0].launch = 99;
  add_occupancy(profile);
  EXPECT_THAT(profile.kernels[0].figures, IsEmpty());
  profile = traced();
  profile.trace.reset();
  add_occupancy(profile);
  EXPECT_THAT(profile.kernels[0].figures, IsEmpty());
}

// A damaged trace may say anything.
TEST(AddOccupancy, TakesLaunchesThatCannotBe) {
  for (const std::int64_t number : {std::int64_t{-1}, std::int64_t{0}, std::int64_t{1} << 40}) {
    Profile profile = traced();
    TracedLaunch& launch = profile.trace->launches[1];
    launch.grid = {number, number, number};
    launch.block = {number, 1, 1};
    launch.dynamic_shared_bytes = number;
    add_occupancy(profile);
    if (const auto occupancy = profile.kernels[0].figure(figure::theoretical_occupancy)) {
      EXPECT_GE(*occupancy, 0);
      EXPECT_LE(*occupancy, 1);
    }
    if (const auto waves = profile.kernels[0].figure(figure::waves)) {
      EXPECT_GE(*waves, 0);
    }
  }
}

class AddCodeTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(scratch_) << scratch_.error().text(); }

  // A disassembler that does what a shell is told.
  [[nodiscard]] std::string disassembler(const std::string& text) const {
    const fs::path path = scratch_->path() / "cuobjdump";
    EXPECT_TRUE(write_file_unsynced(path, "#!/bin/sh\n" + text));
    EXPECT_EQ(::chmod(path.c_str(), 0755), 0);
    return path.string();
  }

  [[nodiscard]] std::string printing_kernels() const {
    return disassembler("[ \"$1 $2\" = '-sass the.so' ] || exit 1\ncat \"" KERNELPRO_SOURCE_DIR
                        "/tests/worker/profile/data/kernels.cuobjdump\"\n");
  }

 private:
  Result<ScratchDir> scratch_ = ScratchDir::create("add-code-test");
};

TEST_F(AddCodeTest, FindsAKernelByItsMangledName) {
  Profile profile = traced();
  profile.kernels.push_back(profile.kernels[0]);
  profile.kernels[1].mangled = "_Z5otherv";
  profile.kernels[0].missing["code"] = "denied";
  add_code(printing_kernels(), "the.so", {}, profile);
  ASSERT_TRUE(profile.kernels[0].code);
  EXPECT_GT(profile.kernels[0].code->instructions, 0);
  EXPECT_FALSE(profile.kernels[0].code->counted);
  EXPECT_FALSE(profile.kernels[0].missing.contains("code"));
  EXPECT_FALSE(profile.kernels[1].code);
  EXPECT_THAT(profile.kernels[1].missing.at("code"), HasSubstr("the.so"));
}

TEST_F(AddCodeTest, LeavesCodeThatIsThere) {
  Profile profile = traced();
  profile.kernels[0].code.emplace();
  profile.kernels[0].code->instructions = 7;
  add_code(printing_kernels(), "the.so", {}, profile);
  EXPECT_EQ(profile.kernels[0].code->instructions, 7);
}

// Code for another generation of GPUs is not what ran.
TEST_F(AddCodeTest, LeavesOutCodeForOtherGpus) {
  Profile profile = traced();
  profile.architecture = "sm_80";
  add_code(printing_kernels(), "the.so", {}, profile);
  EXPECT_FALSE(profile.kernels[0].code);
}

TEST_F(AddCodeTest, SaysWhyThereIsNone) {
  Profile profile = traced();
  add_code("", "the.so", {}, profile);
  EXPECT_THAT(profile.kernels[0].missing.at("code"), HasSubstr("cuobjdump"));
  for (const std::string& bad : {disassembler("exit 1\n"), std::string("/no/such/cuobjdump")}) {
    profile = traced();
    add_code(bad, "the.so", {}, profile);
    EXPECT_FALSE(profile.kernels[0].code);
    EXPECT_THAT(profile.kernels[0].missing.at("code"), HasSubstr("the.so"));
  }
}

TEST_F(AddCodeTest, TakesAListingThatIsNone) {
  for (const char* text :
       {"", "echo nonsense\n", "head -c 5000 /dev/urandom\n",
        "head -c 9000 \"" KERNELPRO_SOURCE_DIR "/tests/worker/profile/data/details.csv\"\n"}) {
    Profile profile = traced();
    add_code(disassembler(text), "the.so", {}, profile);
    EXPECT_FALSE(profile.kernels[0].code) << text;
    EXPECT_THAT(profile.kernels[0].missing.at("code"), Not(IsEmpty())) << text;
  }
}

}  // namespace
}  // namespace kernelpro
