#include "common/model/task.hpp"

#include <gmock/gmock.h>

#include "common/model/sample_tasks.hpp"

namespace kernelpro {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(CompleteAxesTest, ComputesDerivedAxesWhateverTheOrder) {
  const Result<Axes> axes = complete_axes(spmv_task(), {{"rows", 10}, {"cols", 9}, {"per_row", 3}});
  ASSERT_TRUE(axes.ok()) << axes.error().text();
  EXPECT_EQ(*axes, (Axes{{"rows", 10}, {"cols", 9}, {"per_row", 3}, {"nnz", 30}}));
}

TEST(CompleteAxesTest, WrongAxesAreNamedWithTheRightOnes) {
  const Task task = gemm_task();
  EXPECT_EQ(complete_axes(task, {{"m", 1}, {"n", 1}}).error().message,
            "the axis 'k' is missing; give all of m, n, k");
  EXPECT_EQ(complete_axes(task, {{"m", 1}, {"n", 1}, {"k", 1}, {"q", 1}}).error().message,
            "'q' is not an axis to be given; they are m, n, k");
  EXPECT_THAT(complete_axes(task, {{"m", 1}, {"n", 1}, {"k", -1}}).error().message,
              HasSubstr("the axis 'k' is -1"));
}

TEST(CompleteAxesTest, DerivedAxisCannotBeGiven) {
  const Axes shape = {{"rows", 1}, {"cols", 1}, {"per_row", 1}, {"nnz", 1}};
  EXPECT_THAT(complete_axes(spmv_task(), shape).error().message,
              HasSubstr("'nnz' is not an axis to be given"));
}

TEST(CompleteAxesTest, DerivedAxisWithoutAWholeValueIsNamed) {
  Task task = gemm_task();
  task.axes.push_back({"half", formula("m*0.5")});
  const Result<Axes> axes = complete_axes(task, {{"m", 3}, {"n", 1}, {"k", 1}});
  ASSERT_FALSE(axes.ok());
  EXPECT_EQ(axes.error().context, "axis half");
  EXPECT_THAT(axes.error().message, HasSubstr("it gives 1.5"));
}

TEST(EvaluateShapeTest, GivesTheExtents) {
  const TensorSpec spec = tensor("x", DType::f32, {"m", "2*n", "7"});
  EXPECT_THAT(*evaluate_shape(spec.shape, {{"m", 0}, {"n", 4}}), ElementsAre(0, 8, 7));
  EXPECT_THAT(*evaluate_shape({}, {}), IsEmpty());
}

TEST(EvaluateShapeTest, LargestTensorIsBelowTwoToTheForty) {
  const TensorSpec spec = tensor("x", DType::f32, {"m", "n"});
  const std::int64_t million = std::int64_t{1} << 20U;
  EXPECT_TRUE(evaluate_shape(spec.shape, {{"m", million}, {"n", million - 1}}).ok());
  EXPECT_TRUE(evaluate_shape(spec.shape, {{"m", 1}, {"n", million * million - 1}}).ok());
  const Result<std::vector<std::int64_t>> large =
      evaluate_shape(spec.shape, {{"m", million}, {"n", million}});
  ASSERT_FALSE(large.ok());
  EXPECT_THAT(large.error().message, HasSubstr("2^40 elements or more at the extent n = 1048576"));
  EXPECT_FALSE(evaluate_shape(spec.shape, {{"m", 2}, {"n", std::int64_t{1} << 61U}}).ok());
}

TEST(EvaluateShapeTest, NegativeExtentIsAnError) {
  const TensorSpec spec = tensor("x", DType::f32, {"m - 2"});
  EXPECT_THAT(evaluate_shape(spec.shape, {{"m", 1}}).error().message, HasSubstr("it gives -1"));
}

TEST(TimedShapesTest, CudaHasItsOwnWhereTheTaskNamesThem) {
  Task task = gemm_task();
  EXPECT_EQ(timed_shapes(task, Backend::cpu), task.timed_shapes);
  EXPECT_EQ(timed_shapes(task, Backend::cuda), task.timed_shapes);
  task.shapes_on[Backend::cuda] = {{{"m", 2048}, {"n", 2048}, {"k", 2048}}};
  EXPECT_EQ(timed_shapes(task, Backend::cpu), task.timed_shapes);
  EXPECT_EQ(timed_shapes(task, Backend::cuda), task.shapes_on[Backend::cuda]);
}

TEST(ShapeTextTest, ShowsGivenAxesInTheTasksOrder) {
  EXPECT_EQ(shape_text(gemm_task(), {{"k", 3}, {"m", 1}, {"n", 2}}), "m=1 n=2 k=3");
  const Task task = spmv_task();
  EXPECT_EQ(shape_text(task, *complete_axes(task, task.timed_shapes[0])),
            "rows=100 cols=80 per_row=4");
}

TEST(ContractTypeTest, IsTheLeastPreciseFloatingOutput) {
  Task task = gemm_task();
  task.outputs.push_back(tensor("D", DType::bf16, {"m"}));
  task.outputs.push_back(tensor("E", DType::f64, {"m"}));
  task.inputs[0].dtype = DType::bf16;
  EXPECT_EQ(contract_type(task), DType::bf16);
}

TEST(ContractTypeTest, FallsBackToInputsAndThenToTheIntegerOutput) {
  Task task = nearest_task();
  task.inputs[1].dtype = DType::f16;
  EXPECT_EQ(contract_type(task), DType::f16);
  for (TensorSpec& input : task.inputs) {
    input.dtype = DType::i8;
  }
  EXPECT_EQ(contract_type(task), DType::i32);
}

TEST(FindImplementationTest, FindsByName) {
  const Task task = gemm_task();
  ASSERT_NE(find_implementation(task.baselines, "naive"), nullptr);
  EXPECT_EQ(find_implementation(task.baselines, "naive")->file, "baseline.cpp");
  EXPECT_EQ(find_implementation(task.baselines, "other"), nullptr);
}

}  // namespace
}  // namespace kernelpro
