#include "worker/profile/ncu_source.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>
#include <string>

#include "worker/profile/data.hpp"
#include "worker/profile/mutate.hpp"

namespace kernelpro {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Optional;
using testing::Pair;

NcuSourceReport source_of(const std::string& output) {
  Result<NcuSourceReport> report = read_ncu_source(output);
  EXPECT_TRUE(report) << report.error().text();
  return report ? std::move(*report) : NcuSourceReport{};
}

const Instruction& at_offset(const SourceKernel& kernel, int offset) {
  const auto at = std::find_if(kernel.instructions.begin(), kernel.instructions.end(),
                               [&](const Instruction& one) { return one.offset == offset; });
  static const Instruction none;
  EXPECT_NE(at, kernel.instructions.end()) << offset;
  return at == kernel.instructions.end() ? none : *at;
}

class NcuSource : public testing::TestWithParam<const char*> {};

TEST_P(NcuSource, HasEachLaunchOnce) {
  const NcuSourceReport report = source_of(data(GetParam()));
  EXPECT_TRUE(report.complete) << report.problem;
  ASSERT_EQ(report.kernels.size(), 4U);
  EXPECT_THAT(report.kernels[0].name,
              HasSubstr("tmpl<<unnamed>::Cfg<(<unnamed>::Mode)1, (int)3>>"));
  EXPECT_EQ(report.kernels[1].name, "banks(float *, const float *, int)");
  EXPECT_EQ(report.kernels[3].name, report.kernels[0].name);
  EXPECT_EQ(report.kernels[0].instructions.size(), 32U);
  EXPECT_EQ(report.kernels[1].instructions.size(), 120U);
  EXPECT_EQ(report.kernels[2].instructions.size(), 48U);
  for (const SourceKernel& kernel : report.kernels) {
    EXPECT_EQ(kernel.unreadable, 0U) << kernel.name;
    for (std::size_t i = 0; i < kernel.instructions.size(); ++i) {
      EXPECT_EQ(kernel.instructions[i].offset, static_cast<int>(16 * i)) << kernel.name;
    }
  }
}

TEST_P(NcuSource, InstructionsHaveTheirCountsAndSamples) {
  const NcuSourceReport report = source_of(data(GetParam()));
  ASSERT_EQ(report.kernels.size(), 4U);
  const Instruction& load = at_offset(report.kernels[0], 0xc0);
  EXPECT_EQ(load.opcode, "LDG.E");
  EXPECT_THAT(load.executed, Optional(1048576.0));
  EXPECT_THAT(load.threads_executed, Optional(33554432.0));
  EXPECT_THAT(load.sectors, Optional(4194304.0));
  EXPECT_THAT(load.ideal_sectors, Optional(4194304.0));
  EXPECT_EQ(load.wavefronts, std::nullopt);  // the kernel uses no shared memory: no such column
  const Instruction& use = at_offset(report.kernels[0], 0xe0);
  EXPECT_EQ(use.opcode, "FADD");
  EXPECT_THAT(use.samples, Optional(10350.0));
  EXPECT_GT(use.stalls.at("long_scoreboard"), 10'000);
  double stalled = 0;
  for (const auto& [reason, samples] : use.stalls) {
    stalled += samples;
  }
  EXPECT_THAT(stalled, DoubleEq(10350));
  const Instruction& leave = at_offset(report.kernels[0], 0x70);
  EXPECT_EQ(leave.predicate, "@P0");
  EXPECT_THAT(leave.threads_executed, Optional(0.0));
}

TEST_P(NcuSource, SharedMemoryHasWavefronts) {
  const NcuSourceReport report = source_of(data(GetParam()));
  ASSERT_EQ(report.kernels.size(), 4U);
  double wavefronts = 0;
  double ideal = 0;
  for (const Instruction& instruction : report.kernels[1].instructions) {
    ASSERT_TRUE(instruction.wavefronts && instruction.ideal_wavefronts);
    wavefronts += *instruction.wavefronts;
    ideal += *instruction.ideal_wavefronts;
  }
  EXPECT_EQ(wavefronts - ideal, 101'580'800);  // as ncu sums it up on its raw page
}

TEST_P(NcuSource, BranchesLeadToOffsets) {
  const NcuSourceReport report = source_of(data(GetParam()));
  ASSERT_EQ(report.kernels.size(), 4U);
  EXPECT_EQ(at_offset(report.kernels[0], 0x110).opcode, "BRA");
  EXPECT_EQ(at_offset(report.kernels[0], 0x110).operands, "0x110");
}

TEST_P(NcuSource, ACutPageGivesItsWholeRows) {
  const std::string whole = data(GetParam());
  const std::size_t half = whole.rfind("\n\"", whole.size() - 2'000) + 10;
  const NcuSourceReport report = source_of(whole.substr(0, half));
  EXPECT_FALSE(report.complete);
  EXPECT_THAT(report.problem, HasSubstr("cut off"));
  ASSERT_GE(report.kernels.size(), 4U);
  EXPECT_LE(report.kernels.back().instructions.size(), 32U);
}

TEST_P(NcuSource, DamagedPagesGiveNoStrangeKernels) {
  Random random(6);
  const std::string whole = data(GetParam());
  for (int i = 0; i < 60; ++i) {
    const Result<NcuSourceReport> report = read_ncu_source(mutate(whole, random));
    if (!report) {
      ASSERT_NE(report.error().message, "");
      continue;
    }
    for (const SourceKernel& kernel : report->kernels) {
      std::set<int> offsets;
      for (const Instruction& instruction : kernel.instructions) {
        ASSERT_GE(instruction.offset, 0);
        ASSERT_TRUE(offsets.insert(instruction.offset).second);
        ASSERT_NE(instruction.opcode, "");
        ASSERT_GE(instruction.samples.value_or(0), 0);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Forms, NcuSource, testing::Values("source_sass.csv", "source_lines.csv"));

TEST(NcuSourceLines, BlocksThatComeTwiceAreKeptOnce) {
  const NcuSourceReport sass = source_of(data("source_sass.csv"));
  ASSERT_EQ(sass.kernels.size(), 4U);
  EXPECT_EQ(sass.kernels[0].blocks, 2);
  EXPECT_EQ(sass.kernels[3].blocks, 2);
  EXPECT_EQ(source_of(data("source_lines.csv")).kernels[0].blocks, 1);
}

TEST(NcuSourceLines, MessagesBehindThePageDoNotMakeTheLastBlockAnother) {
  const NcuSourceReport report = source_of(data("source_sass.csv") + "\n==PROF== Bye\n");
  ASSERT_EQ(report.kernels.size(), 4U);
  EXPECT_EQ(report.kernels[3].blocks, 2);
}

TEST(NcuSourceLines, MachineCodeAloneHasNoPlaces) {
  const NcuSourceReport report = source_of(data("source_sass.csv"));
  ASSERT_EQ(report.kernels.size(), 4U);
  EXPECT_EQ(report.kernels[0].instructions[0].place.line, 0);
  EXPECT_TRUE(report.kernels[0].lines.empty());
}

TEST(NcuSourceLines, InstructionsHaveTheirLine) {
  const NcuSourceReport report = source_of(data("source_lines.csv"));
  ASSERT_EQ(report.kernels.size(), 4U);
  for (const Instruction& instruction : report.kernels[0].instructions) {
    EXPECT_EQ(instruction.place.file, "p.cu");
    EXPECT_EQ(instruction.place.line, 6);
  }
}

TEST(NcuSourceLines, TheUsersFileIsPreferredToAHeader) {
  const NcuSourceReport report = source_of(data("source_lines.csv"));
  ASSERT_EQ(report.kernels.size(), 4U);
  // Inlined from a header, and under both; and one that is under the header alone.
  EXPECT_EQ(at_offset(report.kernels[2], 0xc0).place.file, "p.cu");
  EXPECT_THAT(at_offset(report.kernels[2], 0x1f0).place.file,
              HasSubstr("device_atomic_functions.hpp"));
  EXPECT_EQ(at_offset(report.kernels[2], 0x1f0).place.line, 112);
  EXPECT_EQ(at_offset(report.kernels[2], 0x1f0).opcode, "REDG.E.ADD.STRONG.GPU");
}

TEST(NcuSourceLines, TheUsersFileIsPreferredWhateverComesFirst) {
  const std::string whole = data("source_lines.csv");
  const std::size_t user = whole.find("\"File Path\",\"p.cu\"\n\"Function Name\",\"atoms");
  const std::size_t header = whole.find("\"File Path\",\"/usr", user);
  const std::size_t next = whole.find("\"File Path\"", header + 1);
  const NcuSourceReport report =
      source_of(whole.substr(header, next - header) + whole.substr(user, header - user));
  ASSERT_EQ(report.kernels.size(), 1U);
  EXPECT_EQ(at_offset(report.kernels[0], 0xc0).place.file, "p.cu");
  EXPECT_EQ(report.kernels[0].instructions.size(), 48U);
}

TEST(NcuSourceLines, HotLinesComeMostSamplesFirst) {
  const NcuSourceReport report = source_of(data("source_lines.csv"));
  ASSERT_EQ(report.kernels.size(), 4U);
  const std::vector<HotLine>& lines = report.kernels[2].lines;
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].place.file, "p.cu");
  EXPECT_EQ(lines[0].place.line, 10);
  EXPECT_EQ(lines[0].samples, 310432);
  EXPECT_THAT(lines[0].text, testing::StartsWith("__global__ void atoms("));
  EXPECT_GT(lines[0].stalls.at("drain"), 200'000);
  EXPECT_EQ(lines[1].place.line, 112);
  EXPECT_EQ(lines[1].samples, 698);
  EXPECT_EQ(lines[1].text, "return __uAtomicAdd(address, val);");
}

TEST(NcuSourceLines, ALineWhoseFileIsNotThereHasNoText) {
  std::string page = data("source_lines.csv");
  const std::string known = "return __uAtomicAdd(address, val);";
  for (std::size_t at = page.find(known); at != std::string::npos; at = page.find(known)) {
    page.replace(at, known.size(), "<Unable to open source file>");
  }
  bool seen = false;
  for (const SourceKernel& kernel : source_of(page).kernels) {
    for (const HotLine& line : kernel.lines) {
      EXPECT_EQ(line.text.find("Unable"), std::string::npos);
      seen = seen || (line.text.empty() && line.samples > 0);
    }
  }
  EXPECT_TRUE(seen);
}

TEST(NcuSourceLines, LaunchesOfOneKernelInARowAreToldApart) {
  const std::string whole = data("source_lines.csv");
  const std::size_t user = whole.find("\"File Path\",\"p.cu\"\n\"Function Name\",\"atoms");
  const std::size_t next = whole.find("\"File Path\",\"p.cu\"", user + 1);
  const std::string atoms = whole.substr(user, next - user);  // two files
  std::string slower = atoms;
  for (std::size_t at = 0; (at = slower.find("\"310432\"")) != std::string::npos;) {
    slower.replace(at, 8, "\"310433\"");
  }
  const NcuSourceReport report = source_of(atoms + slower + slower);
  ASSERT_EQ(report.kernels.size(), 2U);
  EXPECT_EQ(report.kernels[0].blocks, 1);
  EXPECT_EQ(report.kernels[1].blocks, 2);
  EXPECT_EQ(report.kernels[1].lines[0].samples, 310433);
}

TEST(NcuSourceRows, ThatAreNoInstructionsAreCounted) {
  const NcuSourceReport report = source_of(
      "\"Kernel Name\",\"k(int)\",\n\"Address\",\"Source\",\"# Samples\",\"stall_wait\"\n"
      "\"0x100\",\"      IADD3 R1, R2, R3, RZ\",\"5\",\"5\"\n"
      "\"nowhere\",\"      EXIT\",\"1\",\"1\"\n"
      "\"0x110\",\"\",\"1\",\"1\"\n"
      "\"0xffffffffffff0000\",\"      EXIT\",\"1\",\"1\"\n"
      "\"0x120\",\"      EXIT\",\"-3\",\"n/a\"\n");
  ASSERT_EQ(report.kernels.size(), 1U);
  EXPECT_EQ(report.kernels[0].unreadable, 3U);
  ASSERT_EQ(report.kernels[0].instructions.size(), 2U);
  EXPECT_THAT(report.kernels[0].instructions[0].stalls, ElementsAre(Pair("wait", 5)));
  EXPECT_EQ(report.kernels[0].instructions[0].executed, std::nullopt);
  EXPECT_EQ(report.kernels[0].instructions[1].offset, 0x20);
  EXPECT_EQ(report.kernels[0].instructions[1].samples, std::nullopt);
  EXPECT_TRUE(report.kernels[0].instructions[1].stalls.empty());
}

TEST(NcuSourceRows, CountsMayBeGroupedInAnyWay) {
  const NcuSourceReport report = source_of(
      "\"Kernel Name\",\"k(int)\",\n\"Address\",\"Source\",\"# Samples\"\n"
      "\"0x100\",\"NOP\",\"1,234\"\n\"0x110\",\"NOP\",\"1.234\"\n\"0x120\",\"NOP\",\"1 234\"\n");
  ASSERT_EQ(report.kernels.size(), 1U);
  ASSERT_EQ(report.kernels[0].instructions.size(), 3U);
  for (const Instruction& instruction : report.kernels[0].instructions) {
    EXPECT_THAT(instruction.samples, Optional(1234.0));
  }
}

TEST(NcuSourceRows, APageWithoutKernelsIsAnError) {
  const Result<NcuSourceReport> report = read_ncu_source("==WARNING== No kernels were profiled.\n");
  ASSERT_FALSE(report);
  EXPECT_THAT(report.error().text(), HasSubstr("no kernel was profiled"));
}

TEST(StallReasons, AreCalledAsOnTheRawPage) {
  EXPECT_EQ(stall_reason("stall_long_sb"), "long_scoreboard");
  EXPECT_EQ(stall_reason("stall_short_sb"), "short_scoreboard");
  EXPECT_EQ(stall_reason("stall_barrier"), "barrier");
  EXPECT_EQ(stall_reason("stall_no_inst"), "no_instructions");
  EXPECT_EQ(stall_reason("stall_dispatch"), "dispatch_stall");
  EXPECT_EQ(stall_reason("stall_gmma"), "warpgroup_arrive");
  EXPECT_EQ(stall_reason("stall_sleep"), "sleeping");
  EXPECT_EQ(stall_reason("stall_something_new"), "something_new");
  EXPECT_EQ(stall_reason("stall_wait (Not Issued)"), "");
  EXPECT_EQ(stall_reason("# Samples"), "");
}

TEST(StallReasons, OfTheSourcePageAreThoseOfTheRawPage) {
  std::set<std::string> on_raw;
  const std::string raw = data("raw.csv");
  const std::string prefix = "smsp__pcsamp_warps_issue_stalled_";
  for (std::size_t at = raw.find(prefix); at != std::string::npos; at = raw.find(prefix, at + 1)) {
    const std::size_t begin = at + prefix.size();
    on_raw.insert(raw.substr(begin, raw.find('"', begin) - begin));
  }
  ASSERT_GT(on_raw.size(), 10U);
  for (const SourceKernel& kernel : source_of(data("source_sass.csv")).kernels) {
    for (const Instruction& instruction : kernel.instructions) {
      for (const auto& [reason, samples] : instruction.stalls) {
        EXPECT_TRUE(on_raw.contains(reason)) << reason;
      }
    }
  }
}

}  // namespace
}  // namespace kernelpro
