#include "coordinator/task/torch_problem.hpp"

#include <gmock/gmock.h>

#include <optional>

#include "coordinator/task/load.hpp"
#include "support/torch.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::linear_problem;
using testing::make_checkout;
using testing::problem_text;
using testing::relu_problem;

class ProblemTaskTest : public ::testing::Test {
 protected:
  void SetUp() override {
    SKIP_WITHOUT_TORCH();
    auto scratch = ScratchDir::create("problem_test");
    ASSERT_TRUE(scratch.ok());
    scratch_.emplace(*std::move(scratch));
  }

  [[nodiscard]] NewProblem request(const std::string& problem) const {
    NewProblem wanted;
    wanted.checkout = make_checkout(scratch_->path() / "checkout", problem);
    wanted.problem = 7;
    wanted.directory = scratch_->path() / "tasks";
    wanted.script = fs::path(KERNELPRO_SOURCE_DIR) / "oracle" / "torch_oracle.py";
    return wanted;
  }

  [[nodiscard]] static std::string error_of(const NewProblem& wanted) {
    const Result<ProblemTask> made = create_problem_task(wanted);
    return made ? "made" : made.error().text();
  }

  [[nodiscard]] Task made(const std::string& problem) const {
    const Result<ProblemTask> folder = create_problem_task(request(problem));
    EXPECT_TRUE(folder) << folder.error().text();
    const Result<Task> task = folder ? load_task(folder->folder) : Result<Task>(folder.error());
    EXPECT_TRUE(task) << task.error().text();
    return task ? *task : Task();
  }

  std::optional<ScratchDir> scratch_;
};

std::vector<std::string> names(const std::vector<TensorSpec>& specs) {
  std::vector<std::string> out;
  out.reserve(specs.size());
  for (const TensorSpec& tensor : specs) {
    out.push_back(tensor.name);
  }
  return out;
}

TEST_F(ProblemTaskTest, HasTheModulesInputsAndOutput) {
  const Task task = made(relu_problem);
  EXPECT_EQ(task.name, "kernelbench_1_7");
  EXPECT_TRUE(task.reference.torch);
  EXPECT_THAT(names(task.inputs), ElementsAre("input_0"));
  EXPECT_THAT(names(task.outputs), ElementsAre("output_0"));
  EXPECT_EQ(task.inputs[0].values.kind, ValueKind::drawn);
  EXPECT_EQ(*evaluate_shape(task.outputs[0].shape, {}), (std::vector<std::int64_t>{40, 1000}));
  EXPECT_EQ(*task.work.bytes.evaluate({}), 2.0 * 40 * 1000 * 4);
}

TEST_F(ProblemTaskTest, TakesParametersAsInputsNumbersAsScalarsAndSeveralOutputs) {
  const Task task = made(linear_problem);
  EXPECT_THAT(names(task.inputs),
              ElementsAre("input_0", "linear_weight", "linear_bias", "norm_weight", "norm_bias",
                          "norm_running_mean", "norm_running_var"));
  EXPECT_THAT(names(task.outputs), ElementsAre("output_0", "output_1"));
  EXPECT_EQ(task.outputs[1].dtype, DType::i64);
  ASSERT_EQ(task.scalars.size(), 1U);
  EXPECT_EQ(task.scalars[0].low, 2.5);
}

TEST_F(ProblemTaskTest, HasItsOperationsAndTheLengthOfItsSumsMeasured) {
  const Task task = made(linear_problem);
  EXPECT_EQ(task.reduction.text(), "24");
  EXPECT_EQ(task.reference.products, 2 * 32 * 24 * 16);
  EXPECT_GT(*task.work.flops.evaluate({}), 2 * 32 * 24 * 16);
  EXPECT_THAT(task.reference.runs.front(), HasSubstr("operator addmm: 1 call, "));
  EXPECT_THAT(task.reference.without_effect, ElementsAre("norm_running_mean", "norm_running_var"));
}

TEST_F(ProblemTaskTest, NamesWhatHasNoEffect) {
  const Result<ProblemTask> made = create_problem_task(request(linear_problem));
  ASSERT_TRUE(made) << made.error().text();
  EXPECT_THAT(made->without_effect, ElementsAre("norm.running_mean", "norm.running_var"));
}

TEST_F(ProblemTaskTest, TakesWholeNumbersAsInputs) {
  const Task task =
      made(problem_text("    def __init__(self):\n        super().__init__()\n"
                        "        self.table = nn.Embedding(50, 8)\n\n"
                        "    def forward(self, i):\n        return self.table(i)\n",
                        "[torch.randint(0, 50, (30,))]"));
  EXPECT_EQ(task.inputs[0].dtype, DType::i64);
}

TEST_F(ProblemTaskTest, RefusesWhatIsRandomInItself) {
  EXPECT_THAT(error_of(request(problem_text("    def forward(self, x):\n        return "
                                            "nn.functional.dropout(x, 0.5)\n",
                                            "[torch.rand(64)]"))),
              HasSubstr("it is random in itself (dropout, say)"));
}

TEST_F(ProblemTaskTest, RefusesAModuleThatWritesToItsInputs) {
  EXPECT_THAT(error_of(request(problem_text("    def forward(self, x):\n        return x.add_(1)\n",
                                            "[torch.rand(64)]"))),
              HasSubstr("changes its own inputs"));
}

TEST_F(ProblemTaskTest, SaysWhatIsWrongWithAProblem) {
  EXPECT_THAT(error_of(request("import no_such_module\n")),
              HasSubstr("cannot be imported: ModuleNotFoundError"));
  EXPECT_THAT(error_of(request("x = 1\n")), HasSubstr("defines no Model"));
  EXPECT_THAT(error_of(request(problem_text("    def forward(self, x):\n        return x.nothing\n",
                                            "[torch.rand(64)]"))),
              HasSubstr("its forward() fails: AttributeError"));
  EXPECT_THAT(error_of(request(problem_text("    def forward(self, x):\n        return 'text'\n",
                                            "[torch.rand(64)]"))),
              HasSubstr("returns a str; only tensors can be compared"));
}

TEST_F(ProblemTaskTest, SaysThatAProblemIsTooLargeForTheMachine) {
  EXPECT_THAT(error_of(request(problem_text("    def forward(self, x):\n        return x + 1\n",
                                            "[torch.rand(2**30, 2**20)]"))),
              HasSubstr("its get_inputs() fails: RuntimeError"));
}

TEST_F(ProblemTaskTest, SaysWhatIsWrongWithTheCheckout) {
  NewProblem wanted = request(relu_problem);
  wanted.problem = 8;
  EXPECT_THAT(error_of(wanted), HasSubstr("it has no problem 8 (8_*.py)"));
  wanted.level = 3;
  EXPECT_THAT(error_of(wanted), HasSubstr("neither KernelBench/level3 nor level3 is a folder"));
}

TEST_F(ProblemTaskTest, WritesNothingOver) {
  ASSERT_TRUE(create_problem_task(request(relu_problem)));
  EXPECT_THAT(error_of(request(relu_problem)), HasSubstr("already exists"));
}

}  // namespace
}  // namespace kernelpro
