// Both stages together: which tools run, what they find, and in which order it is said.
#include "worker/diagnose/diagnose.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "worker/diagnose/tools/profile_maker.hpp"

namespace kernelpro {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

std::set<std::string> tools_that_found(const DiagnosisReport& report) {
  std::set<std::string> out;
  for (const Finding& finding : report.findings) {
    out.insert(finding.tool);
  }
  return out;
}

std::set<std::string> skipped(const KernelDiagnosis& diagnosis) {
  std::set<std::string> out;
  for (const SkippedTool& tool : diagnosis.skipped) {
    out.insert(tool.tool);
  }
  return out;
}

bool serves(const Tool& tool, KernelClass kind) {
  return std::find(tool.classes.begin(), tool.classes.end(), kind) != tool.classes.end();
}

TEST(Diagnose, ANothingIsUnknown) {
  const DiagnosisReport report = diagnose(Profile());
  EXPECT_EQ(report.kind, KernelClass::unknown);
  EXPECT_THAT(report.reason, Not(IsEmpty()));
  EXPECT_THAT(report.kernels, IsEmpty());
  EXPECT_THAT(report.findings, IsEmpty());
}

TEST(Diagnose, AHealthyKernelHasNoFindings) {
  const DiagnosisReport report = diagnose(healthy(), {.all_tools = true, .limits = {}});
  EXPECT_THAT(report.findings, IsEmpty());
  ASSERT_THAT(report.kernels, SizeIs(1));
  EXPECT_EQ(report.kernels[0].kernel, "work(float*)");
}

// The class decides which tools look; a defect may not hide from its tool behind it.
TEST(Diagnose, FindsEachDefectThatItsToolFindsAlone) {
  int found = 0;
  for (const Tool& tool : all_tools()) {
    if (finds(tool.id, defect(tool.id))) {
      ++found;
      EXPECT_THAT(tools_that_found(diagnose(defect(tool.id))), Contains(tool.id));
    }
  }
  EXPECT_GE(found, 10);
}

TEST(Diagnose, SkipsToolsOfOtherClassesAndSaysWhy) {
  std::size_t count = 0;
  for (const char* key : {figure::dram_use, figure::l1_use, figure::fma_use, figure::tensor_use}) {
    Profile profile = healthy();
    set(profile, key, 0.95);
    const KernelDiagnosis diagnosis = diagnose(profile).kernels.at(0);
    for (const SkippedTool& one : diagnosis.skipped) {
      EXPECT_THAT(one.reason, HasSubstr(std::string(name_of(diagnosis.kind))));
    }
    const std::set<std::string> left_out = skipped(diagnosis);
    count += left_out.size();
    for (const Tool& tool : all_tools()) {
      const bool wanted = tool.reads_program() || serves(tool, diagnosis.kind);
      EXPECT_EQ(left_out.contains(tool.id), !wanted) << tool.id << " for " << key;
    }
  }
  EXPECT_GT(count, 0U);
}

TEST(Diagnose, AllToolsSkipsNone) {
  Profile profile = healthy();
  set(profile, figure::dram_use, 0.95);
  const DiagnosisReport report = diagnose(profile, {.all_tools = true, .limits = {}});
  EXPECT_THAT(report.kernels[0].skipped, IsEmpty());
  EXPECT_EQ(report.kernels[0].kind, diagnose(profile).kernels[0].kind);
}

TEST(Diagnose, AToolThatIsSkippedFindsNothing) {
  // Two defects in one kernel, one of them not of its class.
  for (const Tool& tool : all_tools()) {
    Profile profile = defect(tool.id);
    set(profile, figure::tensor_use, 0.99);
    const DiagnosisReport report = diagnose(profile);
    for (const std::string& one : skipped(report.kernels[0])) {
      EXPECT_THAT(tools_that_found(report), Not(Contains(one)));
    }
  }
}

TEST(Diagnose, AnUnknownClassRunsAllTools) {
  Profile profile = healthy();
  profile.kernels[0].figures.clear();
  const DiagnosisReport report = diagnose(profile);
  EXPECT_EQ(report.kernels[0].kind, KernelClass::unknown);
  EXPECT_THAT(report.kernels[0].skipped, IsEmpty());
}

TEST(Diagnose, FindingsComeLargestGainFirst) {
  Profile profile = with_register_spills();
  profile.kernels[0].share = 0.4;
  Profile other = with_uncoalesced_access();
  profile.kernels.push_back(other.kernels[0]);
  profile.kernels[1].name = "other";
  profile.kernels[1].share = 0.6;
  profile.trace = TraceMaker().launches_with_waits(20, 5000, 10000).trace();
  const DiagnosisReport report = diagnose(profile, {.all_tools = true, .limits = {}});
  ASSERT_GE(report.findings.size(), 3U);
  EXPECT_TRUE(std::is_sorted(
      report.findings.begin(), report.findings.end(),
      [](const Finding& a, const Finding& b) { return a.predicted_gain > b.predicted_gain; }));
  std::set<std::string> kernels;
  for (const Finding& finding : report.findings) {
    kernels.insert(finding.kernel);
    EXPECT_GT(finding.predicted_gain, 1);
    EXPECT_THAT(finding.derivation, Not(IsEmpty())) << finding.tool;
    EXPECT_THAT(finding.moves, Not(IsEmpty())) << finding.tool;
  }
  EXPECT_THAT(kernels, Contains("work(float*)"));
  EXPECT_THAT(kernels, Contains("other"));
}

TEST(Diagnose, EachKernelHasItsOwnClass) {
  Profile profile = with_bank_conflicts();
  profile.kernels.push_back(with_hmma().kernels[0]);
  profile.kernels[0].share = 0.7;
  profile.kernels[1].share = 0.3;
  profile.kernels[1].figures[figure::tensor_use] = {0.98, Origin::counter};
  const DiagnosisReport report = diagnose(profile);
  ASSERT_THAT(report.kernels, SizeIs(2));
  EXPECT_EQ(report.kernels[0].kind, KernelClass::l1);
  EXPECT_EQ(report.kernels[1].kind, KernelClass::tensor);
  EXPECT_EQ(report.kind, KernelClass::l1);
}

TEST(Diagnose, ToolsOfTheProgramRunOnceWhateverTheClass) {
  Profile profile = defect("host_waits");
  profile.kernels.push_back(profile.kernels[0]);
  set(profile, figure::tensor_use, 0.99);
  const DiagnosisReport report = diagnose(profile);
  EXPECT_EQ(report.kind, KernelClass::launch);
  EXPECT_EQ(std::count_if(report.findings.begin(), report.findings.end(),
                          [](const Finding& one) { return one.tool == "host_waits"; }),
            1);
}

// Without counters there is no finding that would need them, and each tool says what it lacks.
TEST(Diagnose, WithoutCountersSaysWhatIsNotAvailable) {
  const std::string denied = "the driver denies counters";
  for (const Tool& tool : all_tools()) {
    Profile profile = defect(tool.id);
    profile.counters = denied;
    KernelProfile& kernel = profile.kernels[0];
    for (const auto& [key, figure] : kernel.figures) {
      kernel.missing[key] = denied;
    }
    kernel.figures.clear();
    kernel.stalls.clear();
    kernel.lines.clear();
    kernel.code.reset();
    const DiagnosisReport report = diagnose(profile);
    for (const std::string& id : tools_that_found(report)) {
      EXPECT_TRUE(tool_named(id).reads_program() || id == "block_shortage") << id;
    }
    const std::vector<std::string>& missing = report.kernels[0].not_available;
    EXPECT_THAT(missing, Contains(HasSubstr(denied))) << tool.id;
    for (const std::string& text : missing) {
      EXPECT_TRUE(std::any_of(all_tools().begin(), all_tools().end(), [&text](const Tool& one) {
        return text.starts_with(one.id + ": ");
      })) << text;
    }
  }
}

TEST(Diagnose, GivesTheSameTwice) {
  Profile profile = with_register_spills();
  profile.trace = TraceMaker().launches(50, 6000, 2000).trace();
  const DiagnosisReport first = diagnose(profile);
  const DiagnosisReport second = diagnose(profile);
  ASSERT_EQ(first.findings.size(), second.findings.size());
  for (std::size_t i = 0; i < first.findings.size(); ++i) {
    EXPECT_EQ(first.findings[i].tool, second.findings[i].tool);
    EXPECT_EQ(first.findings[i].predicted_gain, second.findings[i].predicted_gain);
  }
}

}  // namespace
}  // namespace kernelpro
