#include <gmock/gmock.h>

#include <cmath>
#include <functional>

#include "common/model/sample_tasks.hpp"
#include "common/model/task.hpp"

namespace kernelpro {
namespace {

using ::testing::HasSubstr;

void expect_refused(const Task& task, const std::string& key, const std::string& message) {
  const Status status = validate_task(task);
  ASSERT_FALSE(status.ok()) << "accepted, expected: " << message;
  EXPECT_EQ(status.error().kind, ErrorKind::bad_input);
  EXPECT_EQ(status.error().context, key);
  EXPECT_THAT(status.error().message, HasSubstr(message));
}

Task changed(Task task, const std::function<void(Task&)>& change) {
  change(task);
  return task;
}

TEST(ValidateTaskTest, AcceptsGoodTasks) {
  for (const Task& task : {gemm_task(), spmv_task(), nearest_task()}) {
    const Status status = validate_task(task);
    EXPECT_TRUE(status.ok()) << task.name << ": " << status.error().text();
  }
}

TEST(ValidateTaskTest, TaskNeedsANameAndAnOutput) {
  expect_refused(changed(gemm_task(), [](Task& t) { t.name = ""; }), "name", "has no name");
  expect_refused(changed(gemm_task(), [](Task& t) { t.outputs.clear(); }), "output",
                 "the task has no output");
}

TEST(ValidateTaskTest, NamesAreUniqueIdentifiers) {
  expect_refused(changed(gemm_task(), [](Task& t) { t.inputs[1].name = "A"; }), "input A",
                 "the name 'A' is used twice");
  expect_refused(changed(gemm_task(), [](Task& t) { t.scalars[0].name = "m"; }), "scalar m",
                 "the name 'm' is used twice");
  expect_refused(changed(gemm_task(), [](Task& t) { t.outputs[0].name = "2C"; }), "output 2C",
                 "'2C' is not a name");
  expect_refused(changed(gemm_task(), [](Task& t) { t.axes[0].name = ""; }), "axis ",
                 "'' is not a name");
}

TEST(ValidateTaskTest, FormulasUseKnownAxes) {
  expect_refused(changed(gemm_task(), [](Task& t) { t.inputs[0].shape[1] = formula("q"); }),
                 "input A.shape", "uses 'q', which is not an axis; known here: k, m, n");
  expect_refused(changed(gemm_task(), [](Task& t) { t.outputs[0].shape[0] = formula("alpha"); }),
                 "output C.shape", "uses 'alpha'");
  expect_refused(changed(gemm_task(), [](Task& t) { t.reduction = formula("q"); }), "reduction",
                 "uses 'q'");
  expect_refused(changed(gemm_task(), [](Task& t) { t.work.flops = formula("q"); }), "work.flops",
                 "uses 'q'");
  expect_refused(changed(gemm_task(), [](Task& t) { t.work.bytes = formula("4*q"); }), "work.bytes",
                 "uses 'q'");
  expect_refused(changed(spmv_task(), [](Task& t) { t.inputs[0].values.bound = formula("q"); }),
                 "input start.values", "uses 'q'");
  expect_refused(changed(nearest_task(), [](Task& t) { t.selections[0].shape[1] = formula("q"); }),
                 "selection distance.shape", "uses 'q'");
}

TEST(ValidateTaskTest, DerivedAxesDoNotDependOnThemselves) {
  expect_refused(changed(gemm_task(),
                         [](Task& t) {
                           t.axes.push_back({"a", formula("b")});
                           t.axes.push_back({"b", formula("a")});
                         }),
                 "axis a", "uses 'b'");
}

TEST(ValidateTaskTest, TimedShapesGiveEveryAxisOnce) {
  expect_refused(changed(gemm_task(), [](Task& t) { t.timed_shapes.clear(); }), "shapes.timed",
                 "there is no shape to time");
  expect_refused(changed(gemm_task(), [](Task& t) { t.timed_shapes[0].erase("k"); }),
                 "shapes.timed[0]", "the axis 'k' is missing");
  expect_refused(changed(gemm_task(), [](Task& t) { t.timed_shapes[1]["q"] = 1; }),
                 "shapes.timed[1]", "'q' is not an axis to be given");
  expect_refused(changed(gemm_task(), [](Task& t) { t.timed_shapes[1]["k"] = 0; }),
                 "shapes.timed[1]", "the axis 'k' is 0; expected at least 1");
  expect_refused(changed(gemm_task(), [](Task& t) { t.timed_shapes[1] = t.timed_shapes[0]; }),
                 "shapes.timed[1]", "the shape m=64 n=32 k=16 is there twice");
}

TEST(ValidateTaskTest, CudaShapesAreHeldToTheSameRules) {
  const auto with_cuda = [](std::vector<Axes> shapes) {
    return changed(gemm_task(), [&](Task& t) { t.shapes_on[Backend::cuda] = std::move(shapes); });
  };
  const Axes good = {{"m", 512}, {"n", 512}, {"k", 512}};
  EXPECT_TRUE(validate_task(with_cuda({good})).ok());
  expect_refused(with_cuda({good, {{"m", 1}, {"n", 1}}}), "shapes.cuda[1]",
                 "the axis 'k' is missing");
  expect_refused(with_cuda({{{"m", 1}, {"n", 0}, {"k", 1}}}), "shapes.cuda[0]",
                 "the axis 'n' is 0; expected at least 1");
  expect_refused(with_cuda({good, good}), "shapes.cuda[1]",
                 "the shape m=512 n=512 k=512 is there twice");
  expect_refused(with_cuda({{{"m", 1LL << 45U}, {"n", 1}, {"k", 1}}}), "input A.shape",
                 "2^40 elements or more");
}

TEST(ValidateTaskTest, FormulasHaveValuesAtTimedShapes) {
  expect_refused(changed(gemm_task(), [](Task& t) { t.inputs[0].shape[0] = formula("m*0.25"); }),
                 "input A.shape", "it gives 1.75");
  expect_refused(changed(gemm_task(), [](Task& t) { t.work.flops = formula("1/(m - 7)"); }),
                 "work.flops", "division by zero");
  expect_refused(changed(gemm_task(), [](Task& t) { t.work.bytes = Formula(); }), "work.bytes",
                 "gives 0 at m=64 n=32 k=16");
  expect_refused(changed(gemm_task(), [](Task& t) { t.reduction = Formula(); }), "reduction",
                 "expected at least 1");
  expect_refused(changed(gemm_task(), [](Task& t) { t.timed_shapes[0]["m"] = 1LL << 45U; }),
                 "input A.shape", "2^40 elements or more");
}

TEST(ValidateTaskTest, HeldOutRangesCoverEveryGivenAxis) {
  expect_refused(changed(gemm_task(), [](Task& t) { t.held_out.erase("m"); }), "held_out.m",
                 "no range to draw held-out shapes from");
  expect_refused(changed(gemm_task(), [](Task& t) { t.held_out["q"] = {1, 2}; }), "held_out.q",
                 "'q' is not an axis to be given");
  expect_refused(changed(gemm_task(), [](Task& t) { t.held_out["m"] = {5, 4}; }), "held_out.m",
                 "the range is [5, 4]");
  expect_refused(changed(gemm_task(), [](Task& t) { t.held_out["m"] = {1, 4, 0}; }), "held_out.m",
                 "a step of at least 1");
  expect_refused(changed(gemm_task(), [](Task& t) { t.held_out["m"] = {0, 4}; }), "held_out.m",
                 "expected 1 <= low <= high");
  expect_refused(changed(spmv_task(), [](Task& t) { t.held_out["nnz"] = {1, 4}; }), "held_out.nnz",
                 "'nnz' is not an axis to be given");
}

TEST(ValidateTaskTest, FormulasHaveValuesAtEveryCornerOfTheHeldOutRanges) {
  // Wrong only where m is at its highest and k at its lowest.
  expect_refused(
      changed(gemm_task(), [](Task& t) { t.work.flops = formula("max(39 - m, k - 2)"); }),
      "work.flops", "gives -1 at k=1 m=40");
  expect_refused(changed(gemm_task(), [](Task& t) { t.outputs[0].shape[0] = formula("m - 2"); }),
                 "output C.shape", "m=1");
  expect_refused(
      changed(gemm_task(), [](Task& t) { t.axes.push_back({"inner", formula("k - 3")}); }),
      "axis inner", "it gives -2");
}

TEST(ValidateTaskTest, TooManyAxesAreRefusedBeforeTheCornersAreTried) {
  expect_refused(changed(gemm_task(),
                         [](Task& t) {
                           for (int i = 0; i < 40; ++i) {
                             const std::string name = "x" + std::to_string(i);
                             t.axes.push_back({name, {}});
                             t.held_out[name] = {1, 2};
                             t.timed_shapes[0][name] = 1;
                             t.timed_shapes[1][name] = 1;
                           }
                         }),
                 "axes", "there are 43 given axes; at most 12");
}

TEST(ValidateTaskTest, ValuesFitTheType) {
  expect_refused(changed(gemm_task(), [](Task& t) { t.inputs[0].dtype = DType::i8; }),
                 "input A.values", "normal values do not fit the type i8");
  expect_refused(changed(gemm_task(), [](Task& t) { t.inputs[0].values.kind = ValueKind::index; }),
                 "input A.values", "need an integer type, not f32");
  const auto uniform = [](double low, double high) {
    return [=](Task& t) {
      t.inputs[0].dtype = DType::u8;
      t.inputs[0].values.kind = ValueKind::uniform;
      t.inputs[0].values.low = low;
      t.inputs[0].values.high = high;
    };
  };
  EXPECT_TRUE(validate_task(changed(gemm_task(), uniform(0, 256))).ok());
  expect_refused(changed(gemm_task(), uniform(-1, 1)), "input A.values",
                 "leave the range of the type u8");
  expect_refused(changed(gemm_task(), uniform(1, 1)), "input A.values", "low < high");
  expect_refused(changed(gemm_task(), uniform(0, NAN)), "input A.values", "finite");
}

TEST(ValidateTaskTest, IndexBoundsCanBeDrawn) {
  const auto index = [](const std::string& bound) {
    return [=](Task& t) {
      t.inputs[0].dtype = DType::i8;
      t.inputs[0].values.kind = ValueKind::index;
      t.inputs[0].values.bound = formula(bound);
    };
  };
  EXPECT_TRUE(validate_task(changed(gemm_task(), index("128"))).ok());
  expect_refused(changed(gemm_task(), index("129")), "input A.values",
                 "the bound 129 does not fit the type i8");
  expect_refused(changed(gemm_task(), index("k - 1")), "input A.values",
                 "the bound is 0, so there is no value to draw");
}

TEST(ValidateTaskTest, SparseInputsDescribeOneMatrix) {
  expect_refused(changed(spmv_task(), [](Task& t) { t.inputs[1].values.rows_of = "x"; }),
                 "input column.values", "rows_of is 'x'; expected the name of an input");
  expect_refused(changed(spmv_task(), [](Task& t) { t.inputs[0].values.bound = formula("rows"); }),
                 "input column.values", "end at 100 but 'column' has 400 elements");
  expect_refused(changed(spmv_task(), [](Task& t) { t.held_out["cols"] = {4, 50}; }),
                 "input column.values", "distinct entries do not fit 1 rows of 4 columns");
  expect_refused(changed(spmv_task(), [](Task& t) { t.inputs[0].shape[0] = formula("1"); }),
                 "input start.values", "offsets need at least 2 elements");
  expect_refused(changed(spmv_task(), [](Task& t) { t.inputs[0].shape.push_back(formula("1")); }),
                 "input start.values", "a tensor of one axis; this one has 2");
}

TEST(ValidateTaskTest, SelectionsMatchTheirOutputs) {
  expect_refused(changed(nearest_task(), [](Task& t) { t.outputs[0].selects = "nothing"; }),
                 "output label.selects", "there is no selection 'nothing'");
  expect_refused(changed(nearest_task(), [](Task& t) { t.outputs[0].dtype = DType::f32; }),
                 "output label.selects", "an index needs an integer type, not f32");
  expect_refused(changed(nearest_task(), [](Task& t) { t.selections[0].shape.pop_back(); }),
                 "selection distance.shape", "it has 1 axes");
  expect_refused(changed(nearest_task(),
                         [](Task& t) { t.selections[0].shape = {formula("k"), formula("n")}; }),
                 "selection distance.shape", "leading extents differ");
  expect_refused(changed(nearest_task(), [](Task& t) { t.outputs[0].selects = ""; }),
                 "selection distance", "no output selects it");
}

TEST(ValidateTaskTest, ScalarsAndToleranceAreSane) {
  expect_refused(changed(gemm_task(), [](Task& t) { t.scalars[0].low = 3; }), "scalar alpha",
                 "low <= high");
  expect_refused(changed(gemm_task(), [](Task& t) { t.tolerance.rounding_factor = 0; }),
                 "tolerance", "must be above 0");
  expect_refused(changed(gemm_task(), [](Task& t) { t.tolerance.allow_precision = {"fp8"}; }),
                 "tolerance.allow_precision", "'fp8' is not a precision; known: bf16, f16, tf32");
}

TEST(ValidateTaskTest, FilesAreThere) {
  expect_refused(changed(gemm_task(), [](Task& t) { t.files.erase("reference.hpp"); }),
                 "reference.file", "the file 'reference.hpp' is missing");
  expect_refused(changed(gemm_task(), [](Task& t) { t.files.erase("baseline.cpp"); }),
                 "baseline naive.file", "the file 'baseline.cpp' is missing");
  expect_refused(
      changed(gemm_task(),
              [](Task& t) { t.comparators = {{"blas", Backend::cpu, "", "", {}, {"openblas"}}}; }),
      "comparator blas.file", "no file is named");
}

TEST(ValidateTaskTest, ImplementationsHaveNamesOfTheirOwn) {
  expect_refused(changed(gemm_task(), [](Task& t) { t.baselines.clear(); }), "baseline",
                 "the task has no baseline");
  expect_refused(changed(gemm_task(), [](Task& t) { t.comparators = t.baselines; }),
                 "comparator naive", "the name 'naive' is used twice");
}

TEST(ValidateTaskTest, ReferenceIsCalledWithKnownNamesAndWritesEveryOutput) {
  expect_refused(
      changed(gemm_task(), [](Task& t) { t.reference.call.arguments.emplace_back("beta"); }),
      "reference.call", "the argument 'beta' is not an axis, scalar, input, output or selection");
  expect_refused(changed(gemm_task(), [](Task& t) { t.reference.call.arguments.pop_back(); }),
                 "reference.call", "the output 'C' is not passed to the reference");
  expect_refused(changed(nearest_task(), [](Task& t) { t.reference.call.arguments.pop_back(); }),
                 "reference.call", "the selection 'distance' is not passed to the reference");
  expect_refused(changed(gemm_task(), [](Task& t) { t.reference.call.function = "a b"; }),
                 "reference.call", "'a b' is not the name of a function");
}

}  // namespace
}  // namespace kernelpro
