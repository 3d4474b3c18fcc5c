#include "worker/toolchain/probe.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include "worker/toolchain/fixture.hpp"

namespace kernelpro {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* arm_cpuinfo =
    "processor\t: 0\nBogoMIPS\t: 2100.00\nFeatures\t: fp asimd atomics asimdhp asimddp\n"
    "CPU part\t: 0xd40\n\nprocessor\t: 1\nFeatures\t: fp\n";

TEST(Processor, IsIdentifiedByModelAndFeaturesOfTheFirstCore) {
  const Processor processor = parse_processor("aarch64", arm_cpuinfo);
  EXPECT_EQ(processor.identity, "Features=fp asimd atomics asimdhp asimddp\nCPU part=0xd40\n");
  EXPECT_TRUE(processor.features.contains("asimddp"));
}

TEST(Processor, IsTheSameWhateverItsClockSays) {
  EXPECT_EQ(parse_processor("x86_64", "model name : A\ncpu MHz : 1000\n").identity,
            parse_processor("x86_64", "model name : A\ncpu MHz : 3000\n").identity);
}

TEST(TargetChoices, GoFromNativeToGeneric) {
  EXPECT_THAT(target_choices(parse_processor("aarch64", arm_cpuinfo)),
              ElementsAre(Flags{"-mcpu=native"}, Flags{"-mcpu=native+nosve"},
                          Flags{"-march=armv8.2-a+fp16+dotprod"}, IsEmpty()));
  EXPECT_THAT(target_choices(parse_processor("aarch64", "Features : fp asimd\n")),
              ElementsAre(Flags{"-mcpu=native"}, Flags{"-mcpu=native+nosve"}, IsEmpty()));
  EXPECT_THAT(target_choices(parse_processor("x86_64", "")),
              ElementsAre(Flags{"-march=native"}, Flags{"-march=x86-64-v3"},
                          Flags{"-march=x86-64-v2"}, IsEmpty()));
  EXPECT_THAT(target_choices(parse_processor("riscv64", "")), ElementsAre(IsEmpty()));
}

class ProbeTest : public ToolchainTest {
 protected:
  [[nodiscard]] ProbeResult target(const std::string& compiler, const Flags& flags) const {
    const Result<ProbeResult> result = probe_target(fresh_settings(), compiler, flags);
    EXPECT_TRUE(result.ok()) << result.error().text();
    return result.ok() ? *result : ProbeResult::wrong_result;
  }
};

TEST_F(ProbeTest, GenericCodeWorksWithEveryCompiler) {
  const Toolchain toolchain = open(probed_settings());
  for (const Compiler& compiler : processor_compilers(toolchain)) {
    EXPECT_EQ(target(compiler.path, {}), ProbeResult::works) << compiler.name;
  }
}

TEST_F(ProbeTest, FlagTheCompilerDoesNotKnowIsRejected) {
  const Toolchain toolchain = open(probed_settings());
  EXPECT_EQ(target(toolchain.compilers().front().path, {"-march=no-such-processor"}),
            ProbeResult::does_not_build);
}

TEST_F(ProbeTest, CodeForInstructionsTheProcessorLacksIsRejected) {
  const Processor processor = this_processor();
  Flags flags;
  if (processor.architecture == "aarch64" && !processor.features.contains("sve")) {
    flags = {"-march=armv8.2-a+sve"};
  } else if (processor.architecture == "x86_64" && !processor.features.contains("avx512f")) {
    flags = {"-march=skylake-avx512", "-mprefer-vector-width=512"};
  } else {
    GTEST_SKIP() << "this processor has SVE or AVX-512, so no flag is known to fail on it";
  }
  const Toolchain toolchain = open(probed_settings());
  for (const Compiler& compiler : processor_compilers(toolchain)) {
    EXPECT_EQ(target(compiler.path, flags), ProbeResult::does_not_run) << compiler.name;
  }
}

TEST_F(ProbeTest, ProgramWithWrongResultsIsRejected) {
  const Toolchain toolchain = open(probed_settings());
  EXPECT_EQ(target(toolchain.compilers().front().path, {"-D__builtin_popcount(x)=0"}),
            ProbeResult::wrong_result);
}

TEST_F(ProbeTest, TargetFoundRunsAndIsKeptInTheCache) {
  const ToolchainSettings settings = fresh_settings();
  std::filesystem::create_directories(settings.cache);
  const Toolchain known = open(probed_settings());
  Compiler compiler = processor_compilers(known).back();
  const Flags expected = compiler.target_flags;
  std::filesystem::remove(settings.cache / "targets.json");

  compiler.target_flags = {};
  const Status probed = probe_compiler(settings, this_processor(), compiler);
  ASSERT_TRUE(probed.ok()) << probed.error().text();
  EXPECT_EQ(compiler.target_flags, expected);
  EXPECT_EQ(target(compiler.path, compiler.target_flags), ProbeResult::works);

  // A second probe takes the stored flags, whatever they are.
  Result<std::string> stored = read_file(settings.cache / "targets.json");
  ASSERT_TRUE(stored.ok());
  const std::string key = "\"target_flags\": [";
  ASSERT_NE(stored->find(key), std::string::npos);
  stored->insert(stored->find(key) + key.size(), expected.empty() ? "\"-O2\"" : "\"-O2\",");
  ASSERT_TRUE(write_file_unsynced(settings.cache / "targets.json", *stored).ok());
  ASSERT_TRUE(probe_compiler(settings, this_processor(), compiler).ok());
  EXPECT_EQ(compiler.target_flags.front(), "-O2");
}

TEST_F(ProbeTest, ProcessorOfAnotherMachineIsProbedAnew) {
  const ToolchainSettings settings = probed_settings();
  const Toolchain toolchain = open(settings);
  Compiler compiler = toolchain.compilers().front();
  compiler.target_flags = {"-O0"};
  Processor other = this_processor();
  other.architecture = "riscv64";
  const Status probed = probe_compiler(settings, other, compiler);
  ASSERT_TRUE(probed.ok()) << probed.error().text();
  EXPECT_THAT(compiler.target_flags, IsEmpty());
}

TEST_F(ProbeTest, DamagedProbeFileIsMadeAgain) {
  ToolchainSettings settings = probed_settings();
  Compiler compiler = open(settings).compilers().front();
  ASSERT_TRUE(write_file_unsynced(settings.cache / "targets.json", "{\"cut").ok());
  ASSERT_TRUE(probe_compiler(settings, this_processor(), compiler).ok());
  const Result<std::string> stored = read_file(settings.cache / "targets.json");
  ASSERT_TRUE(stored.ok());
  EXPECT_THAT(*stored, HasSubstr(compiler.path));
}

TEST_F(ProbeTest, CompilerThatMakesNothingIsAnEnvironmentError) {
  ToolchainSettings settings = fresh_settings();
  Compiler compiler;
  compiler.path = "/usr/bin/true";
  const Status probed = probe_compiler(settings, this_processor(), compiler);
  ASSERT_FALSE(probed.ok());
  EXPECT_EQ(probed.error().kind, ErrorKind::environment);
}

}  // namespace
}  // namespace kernelpro
