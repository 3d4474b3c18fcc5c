// What the judge on a GPU does after, and about, candidates that break things.
#include <gmock/gmock.h>

#include <cstdio>

#include "common/base/clock.hpp"
#include "gpu/fixture.hpp"
#include "support/keys.hpp"

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

  // Whatever the hostile candidate leaves behind is not charged to the honest one.
  void expect_passes_after(const std::string& hostile, const std::string& honest) {
    static_cast<void>(verdict_on(parse_gpu_candidate(hostile).hack.candidate));
    const Verdict verdict = verdict_on(parse_gpu_candidate(honest).hack.candidate);
    EXPECT_EQ(verdict.outcome, Outcome::passed) << hostile << ": " << verdict.summary;
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

// A gate's memory stays from one candidate to the next.
TEST_F(GpuJudge, IsNotMisledByANumberLeftInAGate) {
  ASSERT_NO_FATAL_FAILURE(open(rows_task()));
  expect_passes_after("timing_gate_left_open.cu", "honest_rows.cu");
}

TEST_F(GpuJudge, IsNotMisledByANumberLeftBehindAGate) {
  ASSERT_NO_FATAL_FAILURE(open(stream_task()));
  expect_passes_after("timing_next_gate_passed.cu", "honest_baseline.cu");
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

TEST_F(GpuJudge, KnowsThatItsOwnContextIsLost) {
  if (::testing::UnitTest::GetInstance()->test_to_run_count() > 1) {
    GTEST_SKIP() << "it takes the process's context with it: run alone, as ctest does";
  }
  EXPECT_FALSE(gpu_->lost());
  constexpr cuda::Pointer nowhere = 16;
  constexpr std::uint64_t words = 1;
  EXPECT_EQ(gpu_->launch("hash_words", words, nowhere, words, words, nowhere), cuda::success);
  EXPECT_TRUE(gpu_->lost());
}

TEST_F(GpuJudge, TracesCallsInAPassOfItsOwn) {
  JudgeSettings settings = judge_settings();
  settings.trace = true;
  ASSERT_NO_FATAL_FAILURE(open(stream_task(), settings));
  const Verdict verdict = verdict_on(parse_gpu_candidate("honest_baseline.cu").hack.candidate);
  ASSERT_EQ(verdict.outcome, Outcome::passed) << verdict.summary;
  for (const ShapeTiming& shape : verdict.timing.shapes) {
    EXPECT_EQ(shape.launches, 1) << ::testing::PrintToString(verdict.evidence);
    EXPECT_DOUBLE_EQ(shape.own_share, 1);
    EXPECT_GT(shape.gpu_ns, 0.5 * shape.candidate_ns);
    EXPECT_LT(shape.gpu_ns, 1.5 * shape.candidate_ns);
    std::printf("a call of %.1f us: %.1f us on the GPU, %.1f us of launching\n",
                shape.candidate_ns / 1e3, shape.gpu_ns / 1e3, shape.launch_ns / 1e3);
  }
}

TEST_F(GpuJudge, TracesShortCallsUnasked) {
  Task task = stream_task();
  task.timed_shapes = {{{"n", 1000}}};
  ASSERT_NO_FATAL_FAILURE(open(task));
  const Verdict verdict = verdict_on(parse_gpu_candidate("honest_baseline.cu").hack.candidate);
  ASSERT_EQ(verdict.outcome, Outcome::passed) << verdict.summary;
  const ShapeTiming& shape = verdict.timing.shapes.front();
  EXPECT_EQ(shape.launches, 1) << ::testing::PrintToString(verdict.evidence);
  EXPECT_GT(shape.gpu_ns, 0);
  std::printf("a call of %.1f us: %.1f us on the GPU, %.1f us of launching\n",
              shape.candidate_ns / 1e3, shape.gpu_ns / 1e3, shape.launch_ns / 1e3);
}

TEST_F(GpuJudge, TimesOnWarmCaches) {
  Task task = stream_task();
  task.timed_shapes = {{{"n", 400'000}}};
  ASSERT_NO_FATAL_FAILURE(open(task));
  const Candidate honest = parse_gpu_candidate("honest_baseline.cu").hack.candidate;
  const Verdict cold = verdict_on(honest);
  JudgeSettings settings = judge_settings();
  settings.warm = true;
  ASSERT_NO_FATAL_FAILURE(open(task, settings));
  const Verdict warm = verdict_on(honest);
  ASSERT_EQ(warm.outcome, Outcome::passed) << warm.summary;
  EXPECT_TRUE(warm.timing.shapes.front().warm);
  EXPECT_FALSE(cold.timing.shapes.front().warm);
  std::printf("a call takes %.1f us on cold caches, %.1f us on warm ones\n",
              cold.timing.shapes.front().candidate_ns / 1e3,
              warm.timing.shapes.front().candidate_ns / 1e3);
}

TEST_F(GpuJudge, GivesTheSameVerdictForTheSameMaster) {
  ASSERT_NO_FATAL_FAILURE(open(rows_task()));
  EvaluateRequest request;
  request.candidate = parse_gpu_candidate("precision_tf32_tensor_cores.cu").hack.candidate;
  request.timed = false;
  request.master = numbered_key(77);
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
