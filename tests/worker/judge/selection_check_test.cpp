// Index outputs where the reference is too slow to be asked for all of them.
#include "worker/judge/selection_check.hpp"

#include "worker/judge/fixture.hpp"

namespace kernelpro {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using namespace kernelpro::testing;

TensorSpec tensor(const std::string& name, const std::vector<std::string>& shape) {
  TensorSpec out;
  out.name = name;
  for (const std::string& extent : shape) {
    out.shape.push_back(formula(extent));
  }
  return out;
}

// labels[i] is where the smallest value of row i is, values[i][j] + weights[j].
std::string labeling(const std::string& better, const std::string& wrong = "false") {
  return "#include <kernelpro/candidate.h>\n#include <cmath>\n"
         "extern \"C\" int kp_launch(const kp_context* context, const kp_tensor* tensors, "
         "int32_t) {\n"
         "  const int64_t n = context->axes[0], k = context->axes[1];\n"
         "  const float* values = static_cast<const float*>(tensors[0].data);\n"
         "  const float* weights = static_cast<const float*>(tensors[1].data);\n"
         "  int32_t* labels = static_cast<int32_t*>(tensors[2].data);\n"
         "  for (int64_t i = 0; i < n; ++i) {\n"
         "    float best = INFINITY;\n"
         "    labels[i] = 0;\n"
         "    for (int64_t j = 0; j < k; ++j) {\n"
         "      const float value = values[i * k + j] + weights[j];\n"
         "      if (value " +
         better +
         " best) { best = value; labels[i] = static_cast<int32_t>(j); }\n"
         "    }\n"
         "    if (" +
         wrong +
         ") { labels[i] = static_cast<int32_t>((labels[i] + 1) % k); }\n"
         "  }\n  return 0;\n}\n";
}

const std::string rows_of_their_own = "values[i * k + j] + weights[j]";

// `value` is what row i of the reference has for choice j.
Task label_task(const std::string& value = rows_of_their_own) {
  Task task;
  task.name = "label";
  task.family = "test";
  task.summary = "where the smallest value of each row is";
  task.axes = {AxisSpec{"n", std::nullopt}, AxisSpec{"k", std::nullopt}};
  task.inputs = {tensor("values", {"n", "k"}), tensor("weights", {"k"})};
  task.outputs = {tensor("labels", {"n"})};
  task.outputs[0].dtype = DType::i32;
  task.outputs[0].selects = "value";
  task.selections = {Selection{"value", {formula("n"), formula("k")}, true}};
  task.reduction = formula("1");
  task.work.flops = formula("n*k");
  task.work.bytes = formula("4*(n*k + n)");
  task.timed_shapes = {{{"n", 10'007}, {"k", 16}}};
  task.held_out = {{"n", {2, 300}}, {"k", {2, 20}}};
  task.reference.file = "reference.hpp";
  task.reference.call = {"label", {"n", "k", "values", "weights", "value"}};
  task.files["reference.hpp"] =
      "#include <cstdint>\n"
      "inline void label(std::int64_t n, std::int64_t k, const Real* values, const Real* weights, "
      "Real* value) {\n"
      "  for (std::int64_t i = 0; i < n; ++i) {\n"
      "    for (std::int64_t j = 0; j < k; ++j) { value[i * k + j] = " +
      value + "; }\n  }\n}\n";
  ImplementationSpec baseline;
  baseline.name = "naive";
  baseline.file = "baseline.cpp";
  baseline.options = {"-O2"};
  task.baselines = {baseline};
  task.files["baseline.cpp"] = labeling("<");
  return task;
}

Axes axes_of(const Task& task, std::int64_t n = 100) {
  const Result<Axes> axes = complete_axes(task, {{"n", n}, {"k", 8}});
  return axes ? *axes : Axes{{"n", n}, {"k", 8}};
}

TEST(RowAxis, IsTheFirstOfAnIndexOutput) {
  const Task task = label_task();
  EXPECT_EQ(row_axis(task, axes_of(task), 0), "n");
}

TEST(RowAxis, IsNoneWhereRowsCannotBeTakenOut) {
  const auto axis_with = [](auto change) {
    Task task = label_task();
    change(task);
    return row_axis(task, axes_of(task), 0);
  };
  EXPECT_FALSE(axis_with([](Task& task) { task.outputs[0].selects = ""; }));
  EXPECT_FALSE(axis_with([](Task& task) { task.reference.baseline = true; }));
  EXPECT_FALSE(axis_with([](Task& task) { task.reference.torch = true; }));
  EXPECT_FALSE(axis_with([](Task& task) { task.inputs[1] = tensor("w", {"k", "n"}); }));
  EXPECT_FALSE(axis_with([](Task& task) { task.inputs[1] = tensor("w", {"n + 1"}); }));
  EXPECT_FALSE(axis_with([](Task& task) { task.inputs[0] = tensor("v", {"n", "n"}); }));
  EXPECT_FALSE(axis_with([](Task& task) {
    task.axes.push_back({"half", formula("ceil(n/2)")});
    task.inputs[1] = tensor("w", {"half"});
  }));
  EXPECT_FALSE(axis_with([](Task& task) {
    task.inputs[1].dtype = DType::i32;
    task.inputs[1].values.kind = ValueKind::index;
    task.inputs[1].values.bound = formula("n");
  })) << "they point into the rows";
  EXPECT_FALSE(axis_with([](Task& task) { task.axes[0].derived = formula("4*k"); }))
      << "it is not a shape's to choose";
}

TEST(RowAxis, MayBeSharedWithOtherOutputsAndDerivedAxesThatNoInputHas) {
  Task task = label_task();
  task.axes.push_back({"half", formula("ceil(n/2)")});
  task.outputs.push_back(tensor("sums", {"half"}));
  EXPECT_EQ(row_axis(task, axes_of(task), 0), "n");
}

class Selections : public JudgeTest {
 protected:
  // The reference can be asked at the small shapes only.
  Selections() { ground_ = make_host_ground(1 << 20, {50'000, 1e9}); }

  [[nodiscard]] Verdict on(const std::string& source, bool timed = false) const {
    EvaluateRequest request = untimed(source);
    request.timed = timed;
    return verdict_on(request);
  }
};

TEST_F(Selections, AreRightWhereTheyAreEqual) {
  open(label_task());
  const Verdict verdict = on(labeling("<") + "// another\n", true);
  EXPECT_EQ(verdict.outcome, Outcome::passed)
      << verdict.summary << ::testing::PrintToString(verdict.evidence);
}

TEST_F(Selections, OfTheLastOfEquallyGoodValuesAreRight) {
  Task task = label_task("static_cast<Real>(values[i * k + j / 2] + weights[j / 2])");
  // Values come in pairs: each label has another that is as good.
  std::string paired = labeling("<");
  const std::string from = "values[i * k + j] + weights[j]";
  const std::string to = "values[i * k + j / 2] + weights[j / 2]";
  paired.replace(paired.find(from), from.size(), to);
  task.files["baseline.cpp"] = paired;
  open(task);
  std::string last = labeling("<=");
  last.replace(last.find(from), from.size(), to);
  const Verdict verdict = on(last, true);
  EXPECT_EQ(verdict.outcome, Outcome::passed)
      << verdict.summary << ::testing::PrintToString(verdict.evidence);
}

TEST_F(Selections, ThatAreFewAndWrongAreFound) {
  open(label_task());
  for (const char* wrong :
       {"n > 10000 && i % 2000 == 1234", "n > 10000 && i == 10006", "n > 10000"}) {
    SCOPED_TRACE(wrong);
    const Verdict verdict = on(labeling("<", wrong));
    EXPECT_EQ(verdict.outcome, Outcome::incorrect) << verdict.summary;
    // A single label may happen to be nearly as good as the right one, as a lower precision
    // chooses.
    EXPECT_THAT(verdict.rule, ::testing::AnyOf("", "precision"));
    EXPECT_EQ(verdict.stage, Stage::timed_shapes);
  }
}

TEST_F(Selections, ThatAreFewAndWrongAreNamedByTheirPlaceAndValues) {
  open(label_task());
  const Verdict verdict = on(labeling("<", "n > 10000 && i == 10006"));
  EXPECT_THAT(verdict.summary, HasSubstr("labels[10006] is "));
  EXPECT_THAT(verdict.evidence, Contains(HasSubstr("largest error ")));
  EXPECT_THAT(verdict.evidence, ::testing::Not(Contains(HasSubstr("inf"))));
}

TEST_F(Selections, OutOfRangeAreInfinitelyWrong) {
  open(label_task());
  const Verdict verdict =
      on(labeling("<", "n > 10000 && i == 77 && ((labels[i] = 1 << 20), false)"));
  EXPECT_EQ(verdict.outcome, Outcome::incorrect) << verdict.summary;
  EXPECT_THAT(verdict.evidence, Contains(HasSubstr("largest error inf")));
}

TEST_F(Selections, ThatAreWrongInTimedCallsAloneAreFound) {
  open(label_task());
  // The first calls at the large shape are the check and the screen.
  std::string counting = labeling("<", "n > 10000 && calls > 4 && i % 2000 == 1234");
  const std::string mark = "  for (int64_t i = 0;";
  counting.insert(counting.find(mark), "  static int calls = 0;\n  calls += n > 10000;\n");
  const Verdict found = on(counting, true);
  EXPECT_EQ(found.outcome, Outcome::incorrect) << found.summary;
  EXPECT_EQ(found.stage, Stage::timing);
  EXPECT_THAT(found.evidence, Contains(HasSubstr("against the incumbent, in a timed round")));
}

// Each row's values depend on where it lies: the reference for rows alone says something else.
const std::string by_place =
    "values[i * k + j] + weights[(i + j) % k] + static_cast<Real>((i + 3 * j) % k)";

TEST_F(Selections, OfRowsThatAreNoProblemsOfTheirOwnMustBeEqual) {
  Task task = label_task(by_place);
  const std::string from = "values[i * k + j] + weights[j]";
  const auto placed = [&](std::string source) {
    return source.replace(source.find(from), from.size(),
                          "values[i * k + j] + weights[(i + j) % k] + "
                          "static_cast<float>((i + 3 * j) % k)");
  };
  task.files["baseline.cpp"] = placed(labeling("<"));
  open(task);
  EXPECT_EQ(on(placed(labeling("<")) + "// another\n").outcome, Outcome::passed);
  const Verdict verdict = on(placed(labeling("<", "n > 10000 && i == 4321")));
  EXPECT_EQ(verdict.outcome, Outcome::incorrect) << verdict.summary;
  EXPECT_THAT(verdict.evidence, Contains(HasSubstr("largest error inf at labels[4321]")));
}

}  // namespace
}  // namespace kernelpro
