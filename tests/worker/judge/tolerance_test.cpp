#include "worker/judge/tolerance.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "support/small_task.hpp"

namespace kernelpro {
namespace {

using ::testing::HasSubstr;
using namespace kernelpro::testing;

constexpr double infinite = std::numeric_limits<double>::infinity();

BufferPlan plan_of(const Task& task, std::int64_t n) {
  return *plan_buffers(task, {{"n", n}}, 1, Key{});
}

TensorError error_at(double error, std::int64_t worst = 0) {
  TensorError out;
  out.error = error;
  out.worst = worst;
  out.actual = 2;
  out.expected = 1;
  return out;
}

TEST(ErrorBound, IsFourTimesTheBaselinesErrorOrEightRoundingsOverTheRootOfTheLength) {
  Task task = small_task();
  task.reduction = formula("n");
  EXPECT_DOUBLE_EQ(error_bound(task, {{"n", 64}}, 0, 0), 8 * 0x1p-24 * 8);
  EXPECT_DOUBLE_EQ(error_bound(task, {{"n", 64}}, 0, 0.5), 2);
  task.tolerance.rounding_factor = 1;
  task.tolerance.baseline_factor = 10;
  EXPECT_DOUBLE_EQ(error_bound(task, {{"n", 64}}, 0, 0), 0x1p-24 * 8);
  EXPECT_DOUBLE_EQ(error_bound(task, {{"n", 64}}, 0, 0.5), 5);
}

TEST(ErrorBound, OfAShortTypeIsOneRoundingOfItAndASumOfFloats) {
  Task task = small_task();
  task.reduction = formula("n");
  task.outputs[0].dtype = DType::bf16;
  const double short_u = unit_roundoff(DType::bf16);
  EXPECT_NEAR(error_bound(task, {{"n", 8192}}, 0, 0), 8 * (short_u + 0x1p-24 * std::sqrt(8192.0)),
              1e-6)
      << "a bound of 8 * u * sqrt(8192) would pass zeros";
}

TEST(WellConditioned, IsWhatRoundingsOfAFloatMoveAnyOutputShorterThanADoubleBy) {
  Task task = small_task();
  task.reduction = formula("n");
  for (const DType type : {DType::f32, DType::bf16}) {
    task.outputs[0].dtype = type;
    EXPECT_DOUBLE_EQ(well_conditioned(task, {{"n", 64}}, 0), 16 * 0x1p-24 * 8);
  }
  task.outputs[0].dtype = DType::f64;
  EXPECT_DOUBLE_EQ(well_conditioned(task, {{"n", 64}}, 0), 16 * 0x1p-53 * 8);
}

// What an index selects was computed in the contract's type, whatever the index's own is.
TEST(WellConditioned, OfAnIndexIsThatOfTheContractsType) {
  Task task = small_task();
  task.outputs[0].dtype = DType::i32;
  task.outputs[0].selects = "value";
  task.reduction = formula("n");
  EXPECT_DOUBLE_EQ(well_conditioned(task, {{"n", 64}}, 0), 16 * 0x1p-24 * 8);
  for (TensorSpec& input : task.inputs) {
    input.dtype = DType::f64;
  }
  EXPECT_DOUBLE_EQ(well_conditioned(task, {{"n", 64}}, 0), 16 * 0x1p-53 * 8);
}

// A plain sum of a million equal terms rounds each step the same way: a vectorized one is nearer to
// the truth, and both are right.
TEST(DifferenceBound, GrowsWithTheLengthWhereAllTermsAreAlike) {
  Task task = small_task();
  task.reduction = formula("n");
  task.outputs[0].dtype = DType::f64;
  const Axes axes = {{"n", 1 << 20}};
  EXPECT_DOUBLE_EQ(difference_bound(task, axes, 0, Distribution::normal),
                   2 * error_bound(task, axes, 0, 0));
  double one_by_one = 0;
  double in_lanes[4] = {};
  for (int i = 0; i < 1 << 20; ++i) {
    one_by_one += 0.7;
    in_lanes[i % 4] += 0.7;
  }
  const double lanes = in_lanes[0] + in_lanes[1] + in_lanes[2] + in_lanes[3];
  const double difference = std::fabs(one_by_one - lanes) / (2 * lanes);
  EXPECT_GT(difference, difference_bound(task, axes, 0, Distribution::normal));
  EXPECT_LT(difference, difference_bound(task, axes, 0, Distribution::constant));
}

TEST(DifferenceBound, NeverPassesZeros) {
  Task task = small_task();
  task.reduction = formula("n");
  EXPECT_LT(difference_bound(task, {{"n", 1 << 30}}, 0, Distribution::constant), 0.5);
}

TEST(ErrorBound, OfAWholeNumberIsZeroUnlessItIsAnIndex) {
  Task task = small_task();
  task.reduction = formula("1");
  task.outputs[0].dtype = DType::i32;
  EXPECT_EQ(error_bound(task, {{"n", 64}}, 0, 0.5), 0);
  task.outputs[0].selects = "distance";
  EXPECT_DOUBLE_EQ(error_bound(task, {{"n", 64}}, 0, 0), 8 * 0x1p-24);
}

TEST(Tolerance, PassesAnErrorOnTheBoundAndFailsOneAboveIt) {
  const Task task = small_task();
  const BufferPlan plan = plan_of(task, 10);
  EXPECT_TRUE(judge_errors(plan, {error_at(1e-6)}, {1e-6}).passed);
  EXPECT_FALSE(judge_errors(plan, {error_at(1.1e-6)}, {1e-6}).passed);
  EXPECT_FALSE(judge_errors(plan, {error_at(infinite)}, {1e-6}).passed);
}

TEST(Tolerance, NamesTheWorstElementByItsIndices) {
  Task task = small_task();
  task.outputs[0].shape = {formula("n"), formula("3")};
  const ToleranceResult result = judge_errors(plan_of(task, 10), {error_at(1, 7)}, {1e-6});
  EXPECT_FALSE(result.passed);
  EXPECT_EQ(result.failure.outcome, Outcome::incorrect);
  EXPECT_EQ(result.failure.rule, "");
  EXPECT_EQ(result.failure.summary, "out[2, 1] is 2, expected 1");
  EXPECT_THAT(result.failure.evidence.at(0),
              HasSubstr("largest error 1 at out[2, 1], bound 1e-06"));
}

TEST(Tolerance, CallsElementsThatWereNeverWrittenPoison) {
  const Task task = small_task();
  TensorError error = error_at(infinite, 4);
  error.poisoned = 6;
  const ToleranceResult result = judge_errors(plan_of(task, 10), {error}, {1e-6});
  EXPECT_FALSE(result.passed);
  EXPECT_EQ(result.failure.rule, "poison");
  EXPECT_EQ(result.failure.summary, "6 of 10 elements of out were never written");
}

TEST(Tolerance, HoldsEveryOutputToItsBound) {
  Task task = small_task();
  task.outputs.push_back(task.outputs[0]);
  task.outputs[1].name = "second";
  const BufferPlan plan = plan_of(task, 10);
  const ToleranceResult result = judge_errors(plan, {error_at(0), error_at(0.5, 3)}, {1e-6, 1e-6});
  EXPECT_FALSE(result.passed);
  EXPECT_THAT(result.failure.summary, HasSubstr("second[3]"));
  EXPECT_THAT(result.missed, ::testing::ElementsAre(1));
}

TEST(Tolerance, NamesTheLessPreciseOfTwo) {
  EXPECT_EQ(less_precise("contract", "contract"), "contract");
  EXPECT_EQ(less_precise("contract", "tf32"), "tf32");
  EXPECT_EQ(less_precise("f16", "tf32"), "f16");
  EXPECT_EQ(less_precise("bf16", "f16"), "bf16");
}

}  // namespace
}  // namespace kernelpro
