#include "worker/profile/ncu_messages.hpp"

#include <gmock/gmock.h>

#include <string>

#include "common/base/file.hpp"
#include "worker/profile/mutate.hpp"

namespace kernelpro {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

NcuFailure explained(const std::string& complaints) {
  return explain_ncu_failure("==PROF== Connected to process 1 (./p)\n" + complaints +
                             "==PROF== Disconnected from process 1\n");
}

std::string unknown_metric() {
  return read_file(KERNELPRO_SOURCE_DIR "/tests/worker/profile/data/unknown_metric.txt").value();
}

TEST(NcuMessages, DeniedCountersComeWithTheRemedy) {
  for (const char* level : {"ERROR", "WARNING"}) {
    const NcuFailure failure =
        explained("==" + std::string(level) +
                  "== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU "
                  "Performance Counters on the target device 0.\n");
    EXPECT_EQ(failure.kind, NcuFailureKind::counters_denied);
    EXPECT_EQ(failure.error.kind, ErrorKind::environment);
    EXPECT_THAT(failure.error.text(),
                AllOf(HasSubstr("ERR_NVGPUCTRPERM"), HasSubstr("root"), HasSubstr("CAP_SYS_ADMIN"),
                      HasSubstr("NVreg_RestrictProfilingToAdminUsers=0")));
  }
}

TEST(NcuMessages, AnUnknownMetricIsNamed) {
  const NcuFailure failure = explain_ncu_failure(unknown_metric());
  EXPECT_EQ(failure.kind, NcuFailureKind::unknown_metric);
  EXPECT_THAT(failure.metrics, ElementsAre("no_such_metric"));
  EXPECT_THAT(failure.error.text(),
              AllOf(HasSubstr("no_such_metric on this GPU"), HasSubstr("--query-metrics")));
}

TEST(NcuMessages, RefusedMetricsAreFoundInAllTheirForms) {
  EXPECT_THAT(
      refused_metrics("==ERROR== Failed to find metric sm__a.avg.pct\n"
                      "==ERROR== Failed to find metric regex:^sm__b\\.(sum|avg)$\n"
                      "==ERROR== Failed to find metric regex:^sm__c\\.sum$\n"
                      "==WARNING== Unable to access the following 2 metrics: ctc__rx.sum, "
                      "ctc__tx.sum.per_second.\n"
                      "==ERROR== Failed to find metric sm__a.avg.pct\n"),
      ElementsAre("sm__a.avg.pct", "sm__b", "sm__c.sum", "ctc__rx.sum", "ctc__tx.sum.per_second"));
  EXPECT_THAT(
      refused_metrics("Failed to find metric of my own\n==ERROR== Failed to find metric \n"),
      ElementsAre());
}

TEST(NcuMessages, HeldCountersAreBusy) {
  for (const char* text :
       {"Profiling failed because a driver resource was unavailable. Ensure that no other tool "
        "(like DCGM) is concurrently collecting profiling data.",
        "ResourceUnavailable"}) {
    const NcuFailure failure = explained(
        "==ERROR== An error was reported by the driver:\n==ERROR== " + std::string(text) + "\n");
    EXPECT_EQ(failure.kind, NcuFailureKind::counters_busy);
    EXPECT_EQ(failure.error.kind, ErrorKind::busy);
    EXPECT_THAT(failure.error.text(), HasSubstr("dcgmi profile --pause"));
  }
}

TEST(NcuMessages, AnNcuThatDoesNotFitTheGpuIsToBeReplaced) {
  for (const char* text : {"Cuda driver is not compatible with Nsight Compute.",
                           "Profiling is not supported on this device"}) {
    const NcuFailure failure =
        explained("==ERROR== An error was reported by the driver:\n==ERROR== " + std::string(text) +
                  "\n==ERROR== The application returned an error code (11).\n");
    EXPECT_EQ(failure.kind, NcuFailureKind::unsupported_gpu);
    EXPECT_THAT(failure.error.text(), AllOf(HasSubstr(text), HasSubstr("KERNELPRO_NCU")));
  }
}

TEST(NcuMessages, ALockOfAnotherUserIsNamed) {
  const NcuFailure failure =
      explained("==ERROR== Failed to create/open lock file /tmp/nsight-compute-lock.\n");
  EXPECT_EQ(failure.kind, NcuFailureKind::locked);
  EXPECT_THAT(failure.error.text(), HasSubstr("TMPDIR"));
}

TEST(NcuMessages, AProgramThatFailsIsTheProgramsFault) {
  const NcuFailure failure = explained("==ERROR== The application returned an error code (11).\n");
  EXPECT_EQ(failure.kind, NcuFailureKind::program_failed);
  EXPECT_EQ(failure.error.kind, ErrorKind::lost);
  EXPECT_THAT(failure.error.text(), AllOf(HasSubstr("error code (11)"), HasSubstr("without ncu")));
}

TEST(NcuMessages, NoKernelsIsNoFailureOfNcu) {
  for (const char* text : {"==WARNING== No kernels were profiled.\n",
                           "==PROF== Target process 7 terminated before first instrumented API "
                           "call.\n"}) {
    const NcuFailure failure = explained(text);
    EXPECT_EQ(failure.kind, NcuFailureKind::no_kernels) << text;
    EXPECT_THAT(failure.error.text(), HasSubstr("launched none"));
  }
  // A crash is the better reason.
  EXPECT_EQ(
      explained("==WARNING== No kernels were profiled.\n==ERROR== The application returned an "
                "error code (139).\n")
          .kind,
      NcuFailureKind::program_failed);
}

TEST(NcuMessages, ATimeoutIsOne) {
  const NcuFailure failure = explained("==ERROR== Connection timed out\n");
  EXPECT_EQ(failure.kind, NcuFailureKind::timed_out);
  EXPECT_EQ(failure.error.kind, ErrorKind::timeout);
}

TEST(NcuMessages, UnknownTextsAreShownAsTheyAre) {
  std::string text;
  for (int i = 0; i < 8; ++i) {
    text += "==ERROR== Fehler Nummer " + std::to_string(i) + "\n";
  }
  const NcuFailure failure = explained(text);
  EXPECT_EQ(failure.kind, NcuFailureKind::other);
  EXPECT_EQ(failure.error.text(),
            "ncu: Fehler Nummer 3; Fehler Nummer 4; Fehler Nummer 5; Fehler Nummer 6; Fehler "
            "Nummer 7");
}

TEST(NcuMessages, SilenceIsSaidToBeSilence) {
  EXPECT_THAT(explain_ncu_failure("").error.text(), HasSubstr("no table and no message"));
  EXPECT_THAT(explained("==WARNING== odd\n").error.text(), HasSubstr("It warns: odd"));
}

TEST(NcuMessages, WhatTheProgramPrintsIsNotBelieved) {
  EXPECT_EQ(explained("ERR_NVGPUCTRPERM\nThe application returned an error code (1).\n").kind,
            NcuFailureKind::other);
}

TEST(NcuMessages, AnyTextGivesAReason) {
  Random random(5);
  for (int i = 0; i < 2'000; ++i) {
    ASSERT_NE(explain_ncu_failure(mutate(unknown_metric(), random)).error.message, "");
  }
}

}  // namespace
}  // namespace kernelpro
