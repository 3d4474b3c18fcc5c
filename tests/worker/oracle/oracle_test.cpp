// Expected values from a real kernelpro-oracle.
#include "worker/oracle/oracle.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>

#include "coordinator/task/load.hpp"
#include "support/keys.hpp"
#include "support/leftovers.hpp"
#include "support/small_task.hpp"

namespace kernelpro {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using namespace kernelpro::testing;

Task bundled(const std::string& name) {
  Result<Task> task = load_task(std::filesystem::path(KERNELPRO_SOURCE_DIR) / "tasks" / name);
  EXPECT_TRUE(task) << task.error().text();
  return std::move(*task);
}

class OracleTest : public ::testing::Test {
 protected:
  OracleTest() {
    ToolchainSettings settings;
    settings.cache = KERNELPRO_BUILD_DIR "/test-cache";
    settings.abi_include = KERNELPRO_SOURCE_DIR "/include";
    settings.jail = KERNELPRO_BIN_DIR "/kernelpro-jail";
    Result<Toolchain> opened = Toolchain::open(settings);
    EXPECT_TRUE(opened) << opened.error().text();
    toolchain_.emplace(std::move(*opened));
    settings_.jail = KERNELPRO_BIN_DIR "/kernelpro-jail";
    settings_.program = KERNELPRO_BIN_DIR "/kernelpro-oracle";
  }

  [[nodiscard]] Oracle open(const Task& task) const {
    Result<Oracle> oracle = Oracle::open(task, *toolchain_, settings_);
    EXPECT_TRUE(oracle) << oracle.error().text();
    return std::move(*oracle);
  }

  [[nodiscard]] std::string failure_of(const std::string& reference) const {
    Task task = small_task();
    task.files["reference.hpp"] = reference;
    Oracle oracle = open(task);
    const Result<Expected> expected = oracle.expect(draw_at({{"n", 10}}));
    EXPECT_FALSE(expected);
    return expected ? "" : expected.error().text();
  }

  static InputDraw draw_at(const Axes& axes) {
    InputDraw draw;
    draw.axes = axes;
    draw.scalar_key = numbered_key(3);
    draw.values.key = numbered_key(5);
    return draw;
  }

  // The inputs and scalars that the draw stands for.
  struct Drawn {
    BufferPlan plan;
    Arena arena;
    [[nodiscard]] std::vector<double> input(std::size_t index) const {
      return to_doubles(tensor_data(plan, arena, 0, index), plan.tensors[index].dtype,
                        plan.tensors[index].elements);
    }
  };

  static Drawn inputs_of(const Task& task, const InputDraw& draw) {
    Drawn drawn{*plan_buffers(task, draw.axes, 1, draw.scalar_key), Arena()};
    drawn.arena = std::move(*Arena::create(drawn.plan.input_bytes(), false));
    fill_inputs(task, drawn.plan, {&drawn.arena}, 0, draw.values);
    return drawn;
  }

  WorkerEnvironment environment_;
  std::optional<Toolchain> toolchain_;
  OracleSettings settings_;
};

TEST_F(OracleTest, ExpectsWhatAHandComputationInDoubleGives) {
  const Task task = bundled("axpy");
  Oracle oracle = open(task);
  const InputDraw draw = draw_at({{"n", 1000}});
  const Result<Expected> expected = oracle.expect(draw);
  ASSERT_TRUE(expected) << expected.error().text();
  ASSERT_EQ(expected->size(), 1U);
  const Drawn drawn = inputs_of(task, draw);
  const std::vector<double> x = drawn.input(0);
  const std::vector<double> y = drawn.input(1);
  double squares = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    ASSERT_DOUBLE_EQ((*expected)[0].values[i], drawn.plan.scalars[0] * x[i] + y[i]);
    squares += std::pow((*expected)[0].values[i], 2);
  }
  EXPECT_DOUBLE_EQ((*expected)[0].scale, std::sqrt(squares / 1000));
}

TEST_F(OracleTest, ExpectsFromInputsThatAlreadyLieThere) {
  const Task task = small_task("x[i] - 2 * y[i]");
  Oracle oracle = open(task);
  const InputDraw draw = draw_at({{"n", 3}});
  const Drawn drawn = inputs_of(task, draw);
  for (std::size_t i = 0; i < 3; ++i) {
    reinterpret_cast<float*>(tensor_data(drawn.plan, drawn.arena, 0, 0))[i] = 10;
    reinterpret_cast<float*>(tensor_data(drawn.plan, drawn.arena, 0, 1))[i] = static_cast<float>(i);
  }
  const Result<Expected> expected = oracle.expect(draw, drawn.arena);
  ASSERT_TRUE(expected) << expected.error().text();
  EXPECT_THAT((*expected)[0].values, ::testing::ElementsAre(10, 8, 6));
}

TEST_F(OracleTest, GivesTheValuesBehindAnIndexOutput) {
  const Task task = bundled("kmeans_assign");
  Oracle oracle = open(task);
  const InputDraw draw = draw_at({{"n", 20}, {"k", 4}, {"d", 3}});
  const Result<Expected> expected = oracle.expect(draw);
  ASSERT_TRUE(expected) << expected.error().text();
  const ExpectedOutput& labels = expected->at(0);
  EXPECT_EQ(labels.choices, 4U);
  EXPECT_TRUE(labels.smallest);
  ASSERT_EQ(labels.values.size(), 80U);
  const Drawn drawn = inputs_of(task, draw);
  const std::vector<double> points = drawn.input(0);
  const std::vector<double> centroids = drawn.input(1);
  for (std::size_t point = 0; point < 20; ++point) {
    for (std::size_t center = 0; center < 4; ++center) {
      double distance = 0;
      for (std::size_t axis = 0; axis < 3; ++axis) {
        distance += std::pow(points[point * 3 + axis] - centroids[center * 3 + axis], 2);
      }
      EXPECT_NEAR(labels.values[point * 4 + center], distance, 1e-12);
    }
  }
}

TEST_F(OracleTest, ReadsHalvesAndWholeNumbersAsTheyAre) {
  Task task = small_task();
  task.inputs[0].dtype = DType::f16;
  task.inputs[1].dtype = DType::i32;
  task.inputs[1].values.kind = ValueKind::index;
  task.inputs[1].values.bound = formula("100");
  task.outputs[0].dtype = DType::i32;
  task.files["reference.hpp"] =
      "inline void small(std::int64_t n, const Real* x, const std::int32_t* y, std::int32_t* out) "
      "{ for (std::int64_t i = 0; i < n; ++i) { out[i] = x[i] > Real(0) ? y[i] : -1; } }\n";
  Oracle oracle = open(task);
  const InputDraw draw = draw_at({{"n", 50}});
  const Result<Expected> expected = oracle.expect(draw);
  ASSERT_TRUE(expected) << expected.error().text();
  const Drawn drawn = inputs_of(task, draw);
  const std::vector<double> x = drawn.input(0);
  const std::vector<double> y = drawn.input(1);
  const std::vector<double> out = to_doubles((*expected)[0].whole.data(), DType::i32, 50);
  for (std::size_t i = 0; i < 50; ++i) {
    EXPECT_EQ(out[i], x[i] > 0 ? y[i] : -1);
  }
}

TEST_F(OracleTest, CompilesTheReferencesOfAllBundledTasksAndCountsWhatTheyDeclare) {
  const std::vector<std::pair<std::string, Axes>> tasks = {
      {"axpy", {{"n", 1000}}},
      {"gemm", {{"m", 11}, {"n", 13}, {"k", 17}}},
      {"softmax", {{"rows", 5}, {"cols", 300}}},
      {"jacobi2d", {{"h", 20}, {"w", 30}}},
      {"spmv", {{"rows", 50}, {"cols", 100}, {"per_row", 8}}},
      {"kmeans_assign", {{"n", 20}, {"k", 7}, {"d", 9}}}};
  for (const auto& [name, given] : tasks) {
    SCOPED_TRACE(name);
    const Task task = bundled(name);
    const Result<Axes> axes = complete_axes(task, given);
    ASSERT_TRUE(axes) << axes.error().text();
    Oracle oracle = open(task);
    const Result<Expected> expected = oracle.expect(draw_at(*axes));
    EXPECT_TRUE(expected) << expected.error().text();
    const Result<double> counted = oracle.count_operations(*axes, *toolchain_);
    ASSERT_TRUE(counted) << counted.error().text();
    const double declared = *task.work.flops.evaluate(*axes);
    EXPECT_NEAR(*counted, declared, 0.02 * declared);
  }
}

TEST_F(OracleTest, CountsOperationsAndFunctionsButNoSignsAndComparisons) {
  Task task = small_task();
  task.files["reference.hpp"] =
      "inline void small(std::int64_t n, const Real* x, const Real* y, Real* out) {\n"
      "  for (std::int64_t i = 0; i < n; ++i) {\n"
      "    out[i] = x[i] > y[i] ? -exp(x[i]) : -exp(y[i]);\n"  // one
      "    out[i] += x[i] * y[i];\n"                           // two
      "  }\n}\n";
  Oracle oracle = open(task);
  const Result<double> counted = oracle.count_operations({{"n", 10}}, *toolchain_);
  ASSERT_TRUE(counted) << counted.error().text();
  EXPECT_EQ(*counted, 30);
}

TEST_F(OracleTest, CountsEveryFunctionOfRealNumbersOfTheStandardLibrary) {
  const std::vector<std::string> one = {
      "exp",   "exp2",  "expm1", "log",  "log2", "log10",  "log1p", "sqrt", "cbrt",
      "sin",   "cos",   "tan",   "asin", "acos", "atan",   "sinh",  "cosh", "tanh",
      "asinh", "acosh", "atanh", "erf",  "erfc", "tgamma", "lgamma"};
  const std::vector<std::string> none = {"abs",   "fabs", "floor",     "ceil",
                                         "round", "rint", "nearbyint", "trunc"};
  std::string body = "Real sum = pow(x[0], y[0]);\n";  // one
  const auto call = [&](const std::string& name) {
    body += "{ using std::" + name + "; sum = " + name + "(x[0]); }\n";
  };
  std::for_each(one.begin(), one.end(), call);
  std::for_each(none.begin(), none.end(), call);
  body +=
      "sum = fmod(x[0], y[0]); sum = hypot(x[0], y[0]); sum = atan2(x[0], y[0]);\n"  // three
      "sum = fma(x[0], y[0], x[0]);\n"                                               // two
      "sum = copysign(fmax(x[0], y[0]), fmin(x[0], y[0]));\n"
      "out[0] = isnan(sum) || isinf(sum) || signbit(sum) ? Real(0) : sum;\n";
  Task task = small_task();
  task.files["reference.hpp"] =
      "#include <cmath>\n"
      "inline void small(std::int64_t, const Real* x, const Real* y, Real* out) {\n"
      "using std::pow; using std::fmod; using std::hypot; using std::atan2; using std::fma;\n"
      "using std::copysign; using std::fmax; using std::fmin; using std::isnan; using std::isinf;\n"
      "using std::signbit;\n" +
      body + "}\n";
  Oracle oracle = open(task);
  const Result<double> counted = oracle.count_operations({{"n", 10}}, *toolchain_);
  ASSERT_TRUE(counted) << counted.error().text();
  EXPECT_EQ(*counted, static_cast<double>(one.size()) + 6);
}

TEST_F(OracleTest, RefusesAReferenceThatDoesNotCompileWithTheCompilersWords) {
  Task task = small_task();
  task.files["reference.hpp"] = "inline void small() { undeclared = 1; }";
  const Result<Oracle> oracle = Oracle::open(task, *toolchain_, settings_);
  ASSERT_FALSE(oracle);
  EXPECT_EQ(oracle.error().kind, ErrorKind::bad_input);
  EXPECT_THAT(
      oracle.error().text(),
      AllOf(HasSubstr("reference.hpp: the reference does not compile"), HasSubstr("undeclared")));
}

constexpr const char* signature =
    "inline void small(std::int64_t n, const Real* x, const Real* y, Real* out) "
    "{ (void)n; (void)x; (void)y; (void)out; ";

TEST_F(OracleTest, SaysHowAReferenceFailed) {
  EXPECT_THAT(failure_of(std::string(signature) + "__builtin_trap(); }"),
              HasSubstr("reference.hpp: the reference crashed: "));
  EXPECT_THAT(failure_of("#include <stdexcept>\n" + std::string(signature) +
                         "throw std::runtime_error(\"no such row\"); }"),
              HasSubstr("the reference failed: no such row"));
  EXPECT_THAT(failure_of("#include <cstdlib>\n" + std::string(signature) + "_Exit(7); }"),
              HasSubstr("the reference ended its process with exit code 7"));
  settings_.timeout_ms = 100;
  EXPECT_THAT(failure_of(std::string(signature) + "for (volatile int i = 0;; i = i + 1) {} }"),
              HasSubstr("the reference did not finish in time"));
}

TEST_F(OracleTest, GoesOnAfterACrash) {
  Task task = small_task();
  task.files["reference.hpp"] = std::string(signature) +
                                "if (n == 13) { __builtin_trap(); } "
                                "for (std::int64_t i = 0; i < n; ++i) { out[i] = x[i]; } }";
  Oracle oracle = open(task);
  EXPECT_TRUE(oracle.expect(draw_at({{"n", 12}})));
  EXPECT_FALSE(oracle.expect(draw_at({{"n", 13}})));
  EXPECT_TRUE(oracle.expect(draw_at({{"n", 14}})));
}

TEST_F(OracleTest, ChecksEachOutputInItsOwnWay) {
  Task task = small_task();
  task.outputs.push_back(task.outputs[0]);
  task.outputs[1].name = "count";
  task.outputs[1].dtype = DType::i32;
  const BufferPlan plan = *plan_buffers(task, {{"n", 2}}, 1, Key{});
  const Arena outputs = std::move(*Arena::create(plan.output_bytes(), false));
  poison_outputs(plan, outputs, 0);
  auto* out = reinterpret_cast<float*>(tensor_data(plan, outputs, 0, 2));
  auto* count = reinterpret_cast<std::int32_t*>(tensor_data(plan, outputs, 0, 3));
  out[0] = 1;
  out[1] = 3;
  count[0] = 4;
  Expected expected(2);
  expected[0].values = {1, 1};
  expected[0].scale = 1;
  const std::int32_t counts[] = {4, 5};
  const auto* raw = reinterpret_cast<const char*>(counts);
  expected[1].whole.assign(raw, raw + sizeof counts);
  const std::vector<TensorError> errors =
      check_outputs(task, plan, outputs.data(), expected, nullptr);
  ASSERT_EQ(errors.size(), 2U);
  EXPECT_EQ(errors[0].error, 1);
  EXPECT_EQ(errors[0].worst, 1);
  EXPECT_TRUE(std::isinf(errors[1].error));
  EXPECT_EQ(errors[1].poisoned, 1);
}

}  // namespace
}  // namespace kernelpro
