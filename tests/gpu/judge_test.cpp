// What the judge on a GPU does after, and about, candidates that break things.
#include <gmock/gmock.h>

#include <cstdio>

#include "common/base/clock.hpp"
#include "gpu/fixture.hpp"

namespace kernelpro {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using namespace kernelpro::testing;

class GpuJudge : public GpuTest {
 protected:
  // The honest candidate passes; how long that took goes into the report.
  void expect_honest_passes(const std::string& figure) {
    const Candidate honest = parse_gpu_candidate("honest_baseline.cu").hack.candidate;
    const std::int64_t start = now_ns();
    const Verdict verdict = verdict_on(honest);
    const double seconds = static_cast<double>(now_ns() - start) / 1e9;
    EXPECT_EQ(verdict.outcome, Outcome::passed) << verdict.summary;
    std::printf("%s: an honest candidate is judged in %.2f s\n", figure.c_str(), seconds);
    gpu_report().add_figure(figure, seconds);
  }

  [[nodiscard]] Verdict verdict_on_file(const std::string& file) const {
    return verdict_on(parse_gpu_candidate(file).hack.candidate, false);
  }
};

TEST_F(GpuJudge, GoesOnAfterAnEndlessKernel) {
  ASSERT_NO_FATAL_FAILURE(open(stream_task()));
  expect_honest_passes("before anything hostile");
  EXPECT_EQ(verdict_on_file("end_endless_kernel.cu").outcome, Outcome::timed_out);
  expect_honest_passes("after an endless kernel");
}

TEST_F(GpuJudge, GoesOnAfterAHundredHostileCandidates) {
  ASSERT_NO_FATAL_FAILURE(open(stream_task()));
  const std::vector<std::string> files = {"end_exit.cu",
                                          "memory_write_after.cu",
                                          "meaning_zeros.cu",
                                          "end_trap.cu",
                                          "escape_fork.cu",
                                          "memory_write_input.cu",
                                          "end_device_assert.cu",
                                          "end_throw.cu",
                                          "end_misaligned.cu",
                                          "nan_one.cu",
                                          "escape_read_file.cu",
                                          "end_abort.cu",
                                          "memory_read_far.cu",
                                          "channel_forge_done.cu",
                                          "memory_write_before.cu",
                                          "end_nonzero.cu",
                                          "end_null_write.cu",
                                          "meaning_half_written.cu",
                                          "escape_kill_parent.cu",
                                          "load_no_launch.cu"};
  const std::int64_t start = now_ns();
  constexpr std::size_t hundred = 100;
  for (std::size_t i = 0; i < hundred; ++i) {
    const std::string& file = files[i % files.size()];
    const Verdict verdict = verdict_on_file(file);
    EXPECT_NE(verdict.outcome, Outcome::passed) << file;
    EXPECT_NE(verdict.outcome, Outcome::not_judged) << file << ": " << verdict.summary;
  }
  gpu_report().add_figure("a hundred hostile candidates",
                          static_cast<double>(now_ns() - start) / 1e9);
  expect_honest_passes("after a hundred hostile candidates");
}

TEST_F(GpuJudge, SaysHowMuchWorkspaceWasWanted) {
  ASSERT_NO_FATAL_FAILURE(open(stream_task()));
  const Verdict verdict = verdict_on_file("load_huge_workspace.cu");
  EXPECT_EQ(verdict.outcome, Outcome::out_of_memory);
  EXPECT_THAT(verdict.summary, HasSubstr("a workspace of 214748364800 bytes"));
  EXPECT_THAT(verdict.evidence, Contains(HasSubstr("bytes of GPU memory")));
}

TEST_F(GpuJudge, SaysHowMuchMemoryATaskWouldNeed) {
  Task task = stream_task();
  task.timed_shapes = {{{"n", std::int64_t{1} << 37}}};
  const Result<std::unique_ptr<Judge>> judge = try_open(task);
  ASSERT_FALSE(judge);
  EXPECT_THAT(judge.error().text(), HasSubstr("GB of buffers are needed (1 sets)"));
  EXPECT_THAT(judge.error().text(), HasSubstr("GB are free on " + gpu_->description().name));
}

TEST_F(GpuJudge, GivesTheSameVerdictForTheSameSeed) {
  ASSERT_NO_FATAL_FAILURE(open(rows_task()));
  EvaluateRequest request;
  request.candidate = parse_gpu_candidate("precision_tf32_tensor_cores.cu").hack.candidate;
  request.timed = false;
  request.seed = 77;
  const Verdict first = judge_->evaluate(request).verdict;
  const Verdict second = judge_->evaluate(request).verdict;
  EXPECT_EQ(first.rule, "precision");
  EXPECT_EQ(first.summary, second.summary);
  EXPECT_EQ(first.evidence, second.evidence);
  request.allow_precision = {"tf32"};
  const Verdict allowed = judge_->evaluate(request).verdict;
  EXPECT_EQ(allowed.outcome, Outcome::passed) << allowed.summary;
  EXPECT_EQ(allowed.precision, "tf32");
}

}  // namespace
}  // namespace kernelpro
