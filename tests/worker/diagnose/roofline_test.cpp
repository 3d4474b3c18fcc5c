// Stage 1: which class a kernel and a program are given, on profiles made for it.
#include "worker/diagnose/roofline.hpp"

#include <gmock/gmock.h>

#include <limits>
#include <string>
#include <vector>

#include "worker/diagnose/tools/profile_maker.hpp"

namespace kernelpro {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// A GPU that reads and writes 4 TB/s.
Ceilings ceilings() {
  Ceilings out;
  for (const char* name : {"read", "write", "copy", "triad"}) {
    out.list.push_back({name, "GB/s", 0, 4000, 4000, 4000});
  }
  return out;
}

KernelDiagnosis classified(const Profile& profile) {
  return classify(profile, profile.kernels.front());
}

// Healthy, with multiprocessors that all work for the whole time.
Profile even() {
  Profile profile = healthy();
  for (const char* key : {figure::sm_active_mean, figure::sm_active_most, figure::sm_active_least,
                          figure::sm_elapsed}) {
    set(profile, key, 2e6);
  }
  return profile;
}

// Even, with one unit used up.
Profile full(const char* key) {
  Profile profile = even();
  set(profile, key, 0.98);
  return profile;
}

// No counters, and the task says what has to be moved: at 4 TB/s it takes `least_ns`.
Profile declared(double least_ns) {
  Profile profile;
  profile.ceilings = ceilings();
  profile.counters = "denied";
  profile.work = DeclaredWork{1, least_ns * 2000, least_ns * 2000, "f32", 1};
  KernelProfile kernel;
  kernel.name = "k";
  kernel.launches = 1;
  kernel.duration_ns = 1000;
  profile.kernels = {kernel};
  TracedLaunch launch;
  launch.end_ns = 1000;
  profile.trace.emplace();
  profile.trace->launches = {launch};
  profile.trace->end_ns = 1000;
  return profile;
}

TEST(Classify, GoesByTheRoofThatIsUsedUp) {
  const std::vector<std::pair<const char*, KernelClass>> cases = {
      {figure::l2_use, KernelClass::l2},     {figure::l1_use, KernelClass::l1},
      {figure::lsu_use, KernelClass::l1},    {figure::tensor_use, KernelClass::tensor},
      {figure::issue_use, KernelClass::alu}, {figure::fma_use, KernelClass::alu},
      {figure::alu_use, KernelClass::alu},   {figure::special_use, KernelClass::alu},
      {figure::fp64_use, KernelClass::alu},  {figure::atomic_use, KernelClass::l2},
      {figure::dram_use, KernelClass::dram}};
  for (const auto& [key, kind] : cases) {
    const KernelDiagnosis diagnosis = classified(full(key));
    EXPECT_EQ(diagnosis.kind, kind) << key;
    EXPECT_GE(diagnosis.confidence, 0.5) << key;
    EXPECT_LE(diagnosis.confidence, 1) << key;
    EXPECT_THAT(diagnosis.reason, HasSubstr("98 %")) << key;
    ASSERT_THAT(diagnosis.roofs, Not(IsEmpty()));
    EXPECT_NEAR(diagnosis.roofs.front().share, 0.98, 1e-9) << key;
  }
}

TEST(Classify, NothingUsedUpIsLatency) {
  const KernelDiagnosis diagnosis = classified(healthy());
  EXPECT_EQ(diagnosis.kind, KernelClass::latency);
  EXPECT_EQ(diagnosis.kernel, "work(float*)");
}

TEST(Classify, IdleMultiprocessorsAreTail) {
  Profile profile = healthy();
  set(profile, figure::sm_active_mean, 0.2e6);
  const KernelDiagnosis diagnosis = classified(profile);
  EXPECT_EQ(diagnosis.kind, KernelClass::tail);
  EXPECT_THAT(diagnosis.reason, HasSubstr("10 %"));
}

// Those that work are full of arithmetic, but a third of the time is lost to balance.
TEST(Classify, WhatCostsMoreDecidesBetweenBalanceAndAFullUnit) {
  Profile profile = even();
  set(profile, figure::issue_use, 0.64);
  set(profile, figure::sm_active_mean, 1.4e6);
  EXPECT_EQ(classified(profile).kind, KernelClass::tail);
  set(profile, figure::sm_active_mean, 1.9e6);
  EXPECT_EQ(classified(profile).kind, KernelClass::alu);
}

TEST(Classify, RoofsComeFullestFirst) {
  Profile profile = even();
  set(profile, figure::l1_use, 0.7);
  set(profile, figure::fma_use, 0.9);
  set(profile, figure::tensor_use, 0.8);
  const KernelDiagnosis diagnosis = classified(profile);
  ASSERT_GE(diagnosis.roofs.size(), 3U);
  EXPECT_EQ(diagnosis.roofs[0].roof, "fp32");
  EXPECT_EQ(diagnosis.roofs[1].roof, "tensor");
  EXPECT_EQ(diagnosis.roofs[2].roof, "l1");
  EXPECT_EQ(diagnosis.kind, KernelClass::alu);
}

// The roof that was measured, not the one on the data sheet.
TEST(Classify, HoldsTrafficAgainstTheMeasuredBandwidth) {
  Profile profile = even();
  profile.ceilings = ceilings();
  set(profile, figure::dram_read_bytes, 2e9);
  set(profile, figure::dram_write_bytes, 1.9e9);
  set(profile, figure::duration_ns, 1e6);
  const KernelDiagnosis diagnosis = classified(profile);
  EXPECT_EQ(diagnosis.kind, KernelClass::dram);
  EXPECT_THAT(diagnosis.reason, HasSubstr("3900 of 4000 GB/s measured"));
}

TEST(Classify, MoreOfARoofIsMoreCertain) {
  Profile profile = even();
  set(profile, figure::fma_use, 0.8);
  const double less = classified(profile).confidence;
  set(profile, figure::fma_use, 0.95);
  EXPECT_GT(classified(profile).confidence, less);
}

TEST(Classify, AnAbsentFigureIsNoRoof) {
  Profile profile = full(figure::fma_use);
  profile.kernels[0].figures.erase(figure::fma_use);
  const KernelDiagnosis diagnosis = classified(profile);
  EXPECT_EQ(diagnosis.kind, KernelClass::latency);
  for (const RoofUse& roof : diagnosis.roofs) {
    EXPECT_NE(roof.roof, "fp32");
  }
}

TEST(Classify, OneFigureAloneIsEnough) {
  Profile profile = full(figure::l1_use);
  std::erase_if(profile.kernels[0].figures,
                [](const auto& entry) { return entry.first != figure::l1_use; });
  EXPECT_EQ(classified(profile).kind, KernelClass::l1);
}

TEST(Classify, NothingKnownIsUnknown) {
  Profile profile = healthy();
  profile.kernels[0].figures.clear();
  const KernelDiagnosis diagnosis = classified(profile);
  EXPECT_EQ(diagnosis.kind, KernelClass::unknown);
  EXPECT_EQ(diagnosis.confidence, 0);
  EXPECT_THAT(diagnosis.reason, Not(IsEmpty()));
  EXPECT_THAT(diagnosis.roofs, IsEmpty());
}

TEST(Classify, WithoutCountersTheDeclaredBytesMayExplainTheTime) {
  const KernelDiagnosis bound = classified(declared(950));
  EXPECT_EQ(bound.kind, KernelClass::dram);
  EXPECT_THAT(bound.reason, HasSubstr("95 % of the time"));
  const KernelDiagnosis slow = classified(declared(10));
  EXPECT_NE(slow.kind, KernelClass::dram);
  EXPECT_LT(slow.confidence, bound.confidence);
}

// The declared bytes are of a call, the time of a launch that is one of several.
TEST(Classify, DeclaredBytesAreThoseOfAllLaunchesOfACall) {
  Profile profile = declared(950);
  profile.kernels[0].duration_ns = 250;
  profile.kernels[0].launches = 2;
  profile.kernels[0].share = 0.5;
  EXPECT_THAT(classified(profile).reason, HasSubstr("95 % of the time"));
  profile.kernels[0].launches = 20;
  profile.work->calls = 10;
  EXPECT_THAT(classified(profile).reason, HasSubstr("95 % of the time"));
}

TEST(Classify, WithoutCeilingsTheDeclaredBytesSayNothing) {
  Profile profile = declared(950);
  profile.ceilings.list.clear();
  EXPECT_EQ(classified(profile).kind, KernelClass::unknown);
}

TEST(Classify, SaysWhenMoreIsMovedThanTheTaskNeeds) {
  Profile profile = full(figure::fma_use);
  profile.work = DeclaredWork{1e9, 1e7, 1e7, "f32", 1};
  EXPECT_THAT(classified(profile).reason, HasSubstr("10.0 times the bytes"));
  profile.work->read_bytes = 1e8;
  profile.work->write_bytes = 1e8;
  EXPECT_THAT(classified(profile).reason, Not(HasSubstr("times the bytes")));
  profile.work->read_bytes = 0;
  profile.work->write_bytes = 0;
  EXPECT_THAT(classified(profile).reason, Not(HasSubstr("times the bytes")));
}

// A figure from a damaged report is no reason for anything odd.
TEST(Classify, TakesFiguresThatCannotBe) {
  for (const double odd : {-1.0, 0.0, 1e300, std::numeric_limits<double>::infinity(),
                           std::numeric_limits<double>::quiet_NaN()}) {
    for (const std::string& key : roofline_figures()) {
      Profile profile = healthy();
      profile.ceilings = ceilings();
      profile.kernels[0].figures[key] = {odd, Origin::counter};
      const KernelDiagnosis diagnosis = classified(profile);
      EXPECT_GE(diagnosis.confidence, 0) << key << " " << odd;
      EXPECT_LE(diagnosis.confidence, 1) << key << " " << odd;
      EXPECT_THAT(diagnosis.reason, Not(IsEmpty()));
    }
  }
}

TEST(ClassifyProgram, AGpuThatWaitsForTheHostIsLaunch) {
  const Profile profile = with_trace(TraceMaker().launches(50, 6000, 2000).trace());
  const ProgramClass program = classify_program(profile, {classified(profile)});
  EXPECT_EQ(program.kind, KernelClass::launch);
  EXPECT_THAT(program.reason, HasSubstr("%"));
}

// Three launches asked for in time, a long end of the trace: the program is its kernel.
TEST(ClassifyProgram, TimeBeforeAndAfterTheGpusWorkDoesNotCount) {
  Profile profile = full(figure::fma_use);
  TraceMaker maker;
  maker.launches(3, 10'000, 30'000);
  profile.trace = maker.trace();
  for (TracedLaunch& launch : profile.trace->launches) {
    launch.start_ns += 200'000;
    launch.end_ns += 200'000;
  }
  profile.trace->end_ns += 1'000'000;
  EXPECT_EQ(classify_program(profile, {classified(profile)}).kind, KernelClass::alu);
}

// A library that is started before its first kernel says nothing of how the kernels follow.
TEST(ClassifyProgram, SetUpInFrontOfAKernelsFirstLaunchDoesNotCount) {
  Profile profile = full(figure::fma_use);
  TraceMaker maker;
  maker.kernel(maker.call(CallKind::launch, 0, 1'000), 1'000, 500'000);
  maker.kernel(maker.call(CallKind::launch, 90'000'000, 90'001'000), 90'001'000, 90'600'000);
  profile.trace = maker.trace();
  EXPECT_EQ(classify_program(profile, {classified(profile)}).kind, KernelClass::launch)
      << "the same kernel again";
  profile.trace->launches[1].name = "another";
  const ProgramClass program = classify_program(profile, {classified(profile)});
  EXPECT_EQ(program.kind, KernelClass::alu);
  EXPECT_THAT(program.reason, HasSubstr("89.5 ms in front of first launches are taken as set-up"));
}

TEST(ClassifyProgram, KernelsThatWaitForCopiesAreLaunch) {
  TraceMaker maker;
  for (std::int64_t start = 0; start < 4'000'000; start += 1'000'000) {
    maker.copy(maker.call(CallKind::copy, start, start + 500'000), start, start + 500'000, false);
    maker.kernel(maker.call(CallKind::launch, start + 500'000, start + 501'000), start + 501'000,
                 start + 1'000'000);
  }
  const Profile profile = with_trace(maker.trace());
  EXPECT_EQ(classify_program(profile, {classified(profile)}).kind, KernelClass::launch);
}

TEST(ClassifyProgram, ABusyGpuIsWhatItsMainKernelIs) {
  Profile profile = full(figure::fma_use);
  profile.trace = TraceMaker().launches(50, 1000, 900'000).trace();
  const ProgramClass program = classify_program(profile, {classified(profile)});
  EXPECT_EQ(program.kind, KernelClass::alu);
  EXPECT_EQ(program.reason, classified(profile).reason);
}

TEST(ClassifyProgram, WithoutATraceOrKernelsSaysWhatItCan) {
  const Profile profile = full(figure::fma_use);
  EXPECT_EQ(classify_program(profile, {classified(profile)}).kind, KernelClass::alu);
  EXPECT_EQ(classify_program(Profile(), {}).kind, KernelClass::unknown);
  Profile empty;
  empty.trace.emplace();
  EXPECT_EQ(classify_program(empty, {}).kind, KernelClass::unknown);
}

TEST(PossibleClasses, OneWhereTheDeclaredBytesTakeTheTime) {
  EXPECT_THAT(possible_classes(declared(950)), ElementsAre(KernelClass::dram));
}

TEST(PossibleClasses, NothingIsExcludedOtherwise) {
  EXPECT_THAT(possible_classes(declared(10)), IsEmpty());
  Profile profile = declared(950);
  profile.work.reset();
  EXPECT_THAT(possible_classes(profile), IsEmpty());
  profile = declared(950);
  profile.trace.reset();
  EXPECT_THAT(possible_classes(profile), IsEmpty());
  profile = declared(950);
  profile.trace->launches.clear();
  EXPECT_THAT(possible_classes(profile), IsEmpty());
  profile = declared(950);
  profile.ceilings.list.clear();
  EXPECT_THAT(possible_classes(profile), IsEmpty());
  profile = declared(950);
  profile.trace->launches[0].end_ns = 0;
  EXPECT_THAT(possible_classes(profile), IsEmpty());
}

// One of ten calls in the traced part cannot explain the time of all.
TEST(PossibleClasses, CountsTheCallsOfTheTracedPart) {
  Profile profile = declared(95);
  EXPECT_THAT(possible_classes(profile), IsEmpty());
  profile.work->calls = 10;
  EXPECT_THAT(possible_classes(profile), ElementsAre(KernelClass::dram));
}

}  // namespace
}  // namespace kernelpro
