#include "worker/judge/light.hpp"

#include "worker/judge/fixture.hpp"

namespace kernelpro {
namespace {

using ::testing::HasSubstr;
using namespace kernelpro::testing;

// 10 GB/s and 2 GFLOP/s in f32 at most.
Ceilings round_ceilings() {
  Ceilings ceilings;
  ceilings.list = {{"read", "GB/s", 1, 5, 4, 6},
                   {"copy", "GB/s", 2, 9, 8, 10},
                   {"fma_f32", "GFLOP/s", 1, 1.5, 1, 2},
                   {"fma_f64", "GFLOP/s", 1, 0.5, 0.5, 1}};
  return ceilings;
}

TEST(Light, BoundsACallByBytesOverTheBandwidthOfItsMixture) {
  const Roofline roof = roofline(small_task(), {{"n", 1000}}, round_ceilings());
  // A third of 12 000 bytes is written: between 6 bytes a nanosecond for reading alone and 10 for
  // copying.
  EXPECT_DOUBLE_EQ(roof.bound_ns, 12'000 / (6 + 2.0 / 3 * 4));
  EXPECT_EQ(roof.bound_by, "memory");
}

TEST(Light, BoundsACallByOperationsWhereThoseTakeLonger) {
  Task task = small_task();
  task.work.flops = formula("100*n");
  const Roofline roof = roofline(task, {{"n", 1000}}, round_ceilings());
  EXPECT_DOUBLE_EQ(roof.bound_ns, 50'000);
  EXPECT_EQ(roof.bound_by, "compute");
  task.outputs[0].dtype = DType::f64;
  task.inputs[0].dtype = DType::f64;
  task.inputs[1].dtype = DType::f64;
  EXPECT_DOUBLE_EQ(roofline(task, {{"n", 1000}}, round_ceilings()).bound_ns, 100'000);
}

TEST(Light, ForgivesWhatTheCachesMayHaveKeptOfARound) {
  const Axes axes = {{"n", 1000}};
  EXPECT_DOUBLE_EQ(physical_floor_ns(small_task(), axes, 10, 0, round_ceilings()), 1200);
  EXPECT_DOUBLE_EQ(physical_floor_ns(small_task(), axes, 10, 20'000, round_ceilings()), 1000);
  EXPECT_EQ(physical_floor_ns(small_task(), axes, 10, 120'000, round_ceilings()), 0);
}

TEST(Light, DoubtsOnlyWhatBeatsTheFastestArithmeticOfAnyKind) {
  Task task = small_task();
  task.work.flops = formula("100*n");
  const Axes axes = {{"n", 1000}};
  Ceilings ceilings = round_ceilings();
  EXPECT_DOUBLE_EQ(arithmetic_floor_ns(task, axes, ceilings), 50'000);
  ceilings.list.push_back({"tensor_f16", "GFLOP/s", 0, 20, 20, 20});
  EXPECT_DOUBLE_EQ(arithmetic_floor_ns(task, axes, ceilings), 5'000);
  EXPECT_DOUBLE_EQ(roofline(task, axes, ceilings).bound_ns, 50'000) << "of the contract's type";
  EXPECT_EQ(arithmetic_floor_ns(task, axes, {}), 0);
}

TEST(Light, KnowsNoBoundWithoutCeilings) {
  EXPECT_EQ(roofline(small_task(), {{"n", 1000}}, {}).bound_ns, 0);
  EXPECT_EQ(physical_floor_ns(small_task(), {{"n", 1000}}, 10, 0, {}), 0);
}

TEST(Light, KnowsTheWorkOfACall) {
  Task task = small_task();
  task.work.flops = formula("3*n");
  const Work work = work_at(task, {{"n", 1000}});
  EXPECT_EQ(work.flops, 3000);
  EXPECT_EQ(work.bytes, 12'000);
  EXPECT_DOUBLE_EQ(work.written_share, 1.0 / 3);
  EXPECT_EQ(work_at(task, {{"n", 1}}).bytes, 12);
}

TEST(Light, WritesNoMoreThanItMoves) {
  Task task = small_task();
  task.work.bytes = formula("2*n");
  EXPECT_EQ(work_at(task, {{"n", 1000}}).written_share, 1);
}

TEST(Light, KnowsNoWorkThatIsNotDeclaredOrHasNoAxis) {
  Task task = small_task();
  task.work = {};
  const Work undeclared = work_at(task, {{"n", 1000}});
  EXPECT_EQ(undeclared.flops, 0);
  EXPECT_EQ(undeclared.bytes, 0);
  EXPECT_EQ(undeclared.written_share, 0);
  EXPECT_EQ(work_at(small_task(), {}).bytes, 0);
}

TEST_F(JudgeTest, CallsFasterThanTheDeclaredBytesACheat) {
  Task task = small_task();
  task.work.bytes = formula("600*n");
  open(task, measured_ceilings());
  EvaluateRequest request;
  request.candidate = small_candidate(small_source("x[i] + y[i]"));
  const Verdict verdict = verdict_on(request);
  EXPECT_EQ(verdict.outcome, Outcome::cheated) << verdict.summary;
  EXPECT_EQ(verdict.rule, "bound");
  EXPECT_EQ(verdict.stage, Stage::timing);
  EXPECT_THAT(verdict.summary, HasSubstr("faster than this machine can move the task's bytes"));
}

}  // namespace
}  // namespace kernelpro
