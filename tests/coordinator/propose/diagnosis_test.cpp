// A diagnosis from timings, and with what a profile says on top.
#include "coordinator/propose/diagnosis.hpp"

#include <gmock/gmock.h>

namespace kernelpro {
namespace {

using ::testing::HasSubstr;

Timing timing_of(double candidate_ns, double share, const std::string& bound_by) {
  ShapeTiming shape;
  shape.candidate_ns = candidate_ns;
  shape.share_of_bound = share;
  shape.bound_by = bound_by;
  Timing timing;
  timing.shapes = {shape};
  return timing;
}

TEST(Diagnosis, NearTheBoundItIsTheBoundsClass) {
  EXPECT_EQ(diagnose(timing_of(1e6, 0.8, "memory")).bottleneck, Bottleneck::memory);
  EXPECT_EQ(diagnose(timing_of(1e6, 0.6, "compute")).bottleneck, Bottleneck::compute);
  EXPECT_THAT(diagnose(timing_of(1e6, 0.8, "memory")).text, HasSubstr("80 %"));
}

TEST(Diagnosis, FarFromTheBoundItIsLatency) {
  EXPECT_EQ(diagnose(timing_of(1e6, 0.05, "compute")).bottleneck, Bottleneck::latency);
}

TEST(Diagnosis, AShortCallFarFromTheBoundIsOverhead) {
  EXPECT_EQ(diagnose(timing_of(5e3, 0.2, "memory")).bottleneck, Bottleneck::overhead);
  EXPECT_EQ(diagnose(timing_of(5e3, 0.9, "memory")).bottleneck, Bottleneck::memory);
}

TEST(Diagnosis, SharesAreAveragedOverTheShapes) {
  Timing timing = timing_of(1e6, 0.9, "memory");
  timing.shapes.push_back(timing.shapes.front());
  timing.shapes.back().share_of_bound = 0.1;
  EXPECT_NEAR(diagnose(timing).share_of_bound, 0.3, 1e-9);
}

TEST(Diagnosis, WithoutTimingNothingIsKnown) {
  EXPECT_EQ(diagnose({}).bottleneck, Bottleneck::unknown);
}

TEST(Diagnosis, AProfilesClassComesBeforeThatOfTheTimes) {
  const std::vector<std::pair<KernelClass, Bottleneck>> cases = {
      {KernelClass::dram, Bottleneck::memory},    {KernelClass::l2, Bottleneck::memory},
      {KernelClass::l1, Bottleneck::memory},      {KernelClass::tensor, Bottleneck::compute},
      {KernelClass::alu, Bottleneck::compute},    {KernelClass::latency, Bottleneck::latency},
      {KernelClass::tail, Bottleneck::latency},   {KernelClass::launch, Bottleneck::overhead},
      {KernelClass::unknown, Bottleneck::compute}};
  for (const auto& [kind, bottleneck] : cases) {
    DiagnosisReport profiled;
    profiled.kind = kind;
    profiled.reason = "so it is";
    const Diagnosis diagnosis = diagnose(timing_of(1e6, 0.6, "compute"), profiled);
    EXPECT_EQ(diagnosis.kind, kind);
    EXPECT_EQ(diagnosis.bottleneck, bottleneck) << name_of(kind);
    EXPECT_DOUBLE_EQ(diagnosis.share_of_bound, 0.6);
    EXPECT_EQ(diagnosis.text, std::string(name_of(kind)) + ": so it is");
  }
}

TEST(Diagnosis, HasTheProfilesFindingsInTheirOrder) {
  DiagnosisReport profiled;
  profiled.kind = KernelClass::dram;
  profiled.findings.resize(2);
  profiled.findings[0].tool = "uncoalesced_access";
  profiled.findings[1].tool = "narrow_loads";
  const Diagnosis diagnosis = diagnose(timing_of(1e6, 0.6, "compute"), profiled);
  ASSERT_EQ(diagnosis.findings.size(), 2U);
  EXPECT_EQ(diagnosis.findings[0].tool, "uncoalesced_access");
  EXPECT_THAT(diagnosis.text, HasSubstr("60 %")) << "a profile without a reason says no more";
}

TEST(Diagnosis, WithoutTimingTheProfileIsAllThatIsKnown) {
  DiagnosisReport profiled;
  profiled.kind = KernelClass::tensor;
  EXPECT_EQ(diagnose({}, profiled).bottleneck, Bottleneck::compute);
  EXPECT_EQ(diagnose({}, DiagnosisReport()).bottleneck, Bottleneck::unknown);
}

}  // namespace
}  // namespace kernelpro
