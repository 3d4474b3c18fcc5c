// What oracle/torch_problem does where a worker on a CPU never brings it: slices, and a PyTorch
// that cannot use the GPU it is given.
#include <gmock/gmock.h>

#include <optional>

#include "common/base/process.hpp"
#include "support/torch.hpp"

namespace kernelpro {
namespace {

using ::testing::HasSubstr;
using testing::problem_text;

class TorchProblem : public ::testing::Test {
 protected:
  void SetUp() override {
    SKIP_WITHOUT_TORCH();
    auto scratch = ScratchDir::create("torch_problem_test");
    ASSERT_TRUE(scratch.ok());
    scratch_.emplace(*std::move(scratch));
  }

  // What `program` prints, with a problem of that text at `path`.
  [[nodiscard]] std::string printed(const std::string& problem, const std::string& program,
                                    const std::string& gpu = "") const {
    const auto path = scratch_->path() / "problem.py";
    EXPECT_TRUE(write_file_atomic(path, problem).ok());
    Command command;
    command.arguments = {python_with_torch()->path, "-c",
                         "import sys\nsys.dont_write_bytecode = True\n"
                         "sys.path.insert(0, sys.argv[1])\n"
                         "import torch\nfrom torch_problem.problem import Problem, Refused\n"
                         "path = sys.argv[2]\n" +
                             program,
                         std::string(KERNELPRO_SOURCE_DIR) + "/oracle", path.string()};
    command.inherit_environment = true;
    command.environment = {{"CUDA_VISIBLE_DEVICES", gpu}};
    command.timeout_ms = 120'000;
    const Result<Finished> finished = run_command(command);
    return finished ? finished->output + finished->errors : finished.error().text();
  }

  std::optional<ScratchDir> scratch_;
};

// Outputs in double where at most four rows at a time fit into memory.
const std::string in_slices =
    "problem = Problem(path)\n"
    "given, state = problem.draw(1)\n"
    "whole = problem.forward_wide(given, state)\n"
    "forward = problem.forward_wide\n"
    "def small(given, state):\n"
    "    if given[0].shape[0] > 4:\n        raise RuntimeError('CUDA out of memory')\n"
    "    return forward(given, state)\n"
    "problem.forward_wide = small\n"
    "outputs = [torch.empty_like(value) for value in whole]\n"
    "try:\n    problem.write_wide(given, state, outputs)\n"
    "    print('same', all(torch.allclose(a, b) for a, b in zip(outputs, whole)), problem.sliced)\n"
    "except MemoryError:\n    print('does not fit')\n";

TEST_F(TorchProblem, RowsThatDoNotKnowEachOtherAreComputedInSlices) {
  const std::string softmax = problem_text(
      "    def forward(self, x):\n        return torch.softmax(x, dim=1)\n", "[torch.rand(30, 7)]");
  EXPECT_EQ(printed(softmax, in_slices), "same True [0]\n");
}

TEST_F(TorchProblem, OnlyTheInputThatCanBeCutIs) {
  const std::string product = problem_text("    def forward(self, a, b):\n        return a @ b\n",
                                           "[torch.rand(30, 30), torch.rand(30, 30)]");
  EXPECT_EQ(printed(product, in_slices), "same True [0]\n");
}

TEST_F(TorchProblem, AStatisticOverTheBatchIsNotCut) {
  const std::string norm = problem_text(
      "    def __init__(self):\n        super().__init__()\n        self.n = nn.BatchNorm1d(7)\n\n"
      "    def forward(self, x):\n        return self.n(x)\n",
      "[torch.rand(3000, 7)]");
  EXPECT_EQ(printed(norm, in_slices), "does not fit\n");
}

TEST_F(TorchProblem, ARunningSumAlongTheRowsIsNotCut) {
  const std::string sum = problem_text(
      "    def forward(self, x):\n        return torch.cumsum(x, dim=0)\n", "[torch.rand(30, 7)]");
  EXPECT_EQ(printed(sum, in_slices), "does not fit\n");
}

TEST_F(TorchProblem, ParametersThatEveryFreshModuleHasAlikeAreVariedToo) {
  const std::string norm = problem_text(
      "    def __init__(self):\n        super().__init__()\n        self.n = nn.LayerNorm(7)\n\n"
      "    def forward(self, x):\n        return self.n(x)\n",
      "[torch.rand(3, 7)]");
  const std::string drawn =
      "problem = Problem(path)\n"
      "own = problem.draw(42)[1]\n"
      "print(bool((own[0] == 1).all()), bool((own[1] == 0).all()))\n"
      "first, second = problem.draw(5)[1], problem.draw(6)[1]\n"
      "again = problem.draw(5)[1]\n"
      "print([bool((a == b).any()) for a, b in zip(first, second)],\n"
      "      [bool((a == b).all()) for a, b in zip(first, again)])\n";
  EXPECT_EQ(printed(norm, drawn), "True True\n[False, False] [True, True]\n");
  // A large module is not built anew for every draw.
  EXPECT_EQ(
      printed(norm, "import torch_problem.problem\ntorch_problem.problem.MOST_BUILT = 0\n" + drawn),
      "True True\n[False, False] [True, True]\n");
}

TEST_F(TorchProblem, APyTorchThatCannotUseTheGpuSaysWhy) {
  const std::string asked =
      "if torch.version.cuda is not None:\n    print('skip')\n    sys.exit()\n"
      "try:\n    Problem(path)\nexcept Refused as error:\n    print(error)\n";
  const std::string said = printed(testing::relu_problem, asked, "GPU-1");
  if (said == "skip\n") {
    GTEST_SKIP() << "this PyTorch is built for CUDA";
  }
  EXPECT_THAT(said, HasSubstr("cannot use the GPU: it is built for CPUs only"));
  EXPECT_THAT(said, HasSubstr("KERNELPRO_PYTHON"));
}

}  // namespace
}  // namespace kernelpro
