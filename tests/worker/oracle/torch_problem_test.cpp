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
    EXPECT_TRUE(write_file_unsynced(path, problem).ok());
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

// Operations, those of products, and the length of sums.
const std::string counted =
    "from torch_problem.operations import operations_of\n"
    "problem = Problem(path)\n"
    "found = operations_of(problem, *problem.draw(1))\n"
    "print(found['flops'], found['products'], found['reduction'])\n";

TEST_F(TorchProblem, CountsProductsConvolutionsAndElements) {
  const std::string linear = problem_text(
      "    def __init__(self):\n        super().__init__()\n        self.l = nn.Linear(24, 16)\n\n"
      "    def forward(self, x):\n        return torch.relu(self.l(x))\n",
      "[torch.rand(32, 24)]");
  // 2 * 32 * 24 * 16, and 32 * 16 of ReLU.
  EXPECT_EQ(printed(linear, counted), "25088 24576 24\n");
  const std::string convolutions = problem_text(
      "    def __init__(self):\n        super().__init__()\n"
      "        self.c = nn.Conv2d(8, 16, 3, groups=2)\n"
      "        self.t = nn.ConvTranspose2d(16, 4, 2, stride=2)\n\n"
      "    def forward(self, x):\n        return self.t(self.c(x))\n",
      "[torch.rand(1, 8, 6, 6)]");
  // 16 * 4 * 4 outputs of 4 * 9 terms, then each of 16 * 4 * 4 inputs times 4 * 4 weights.
  EXPECT_EQ(printed(convolutions, counted), "26624 26624 52\n");
}

TEST_F(TorchProblem, CountsARecurrentLayerStepByStep) {
  const std::string gru = problem_text(
      "    def __init__(self):\n        super().__init__()\n        self.g = nn.GRU(8, 16)\n\n"
      "    def forward(self, x):\n        return self.g(x)[0]\n",
      "[torch.rand(10, 4, 8)]");
  // At each of 10 steps of 4: 3 gates of 16 from 8 inputs and 16 states.
  EXPECT_EQ(printed(gru, counted + "print(found['products'] == 2 * 10 * 4 * 48 * (8 + 16),\n"
                                   "      found['flops'] > found['products'])\n")
                .substr(6),
            "92160 72\nTrue True\n");
  // As PyTorch's fused operators have it, whose insides nobody sees.
  const std::string fused =
      "from torch_problem.operations import recurrence\n"
      "weights = [torch.rand(48, 8), torch.rand(48, 16), torch.rand(48), torch.rand(48)]\n"
      "x = torch.rand(10, 4, 8)\n"
      "print(recurrence('_cudnn_rnn', [x, weights, 4, None]))\n"
      "print(recurrence('mkldnn_rnn_layer', [x, *weights, torch.rand(4, 16)]))\n";
  EXPECT_EQ(printed(testing::relu_problem, fused),
            "(92160, 11520, 16, 160)\n(92160, 11520, 16, 160)\n");
}

TEST_F(TorchProblem, SumsAreAsLongAsWhatTheyAddUpOneBehindTheOther) {
  const auto of = [this](const std::string& body, const std::string& inputs) {
    return printed(problem_text("    def forward(self, x):\n        return " + body + "\n", inputs),
                   counted);
  };
  EXPECT_EQ(of("x.mean(dim=1)", "[torch.rand(8, 4096)]"), "32768 0 4096\n");
  EXPECT_EQ(of("torch.cumsum(x, dim=1)", "[torch.rand(8, 4096)]"), "32768 0 4096\n");
  EXPECT_EQ(of("(x @ x).sum(dim=1)", "[torch.rand(64, 64)]"), "528384 524288 128\n");
  EXPECT_EQ(of("torch.relu(x)", "[torch.rand(64, 64)]"), "4096 0 1\n");
  EXPECT_EQ(of("x.t().contiguous()", "[torch.rand(64, 32)]"), "0 0 1\n");
  // A normalization's own sums do not widen the tolerance.
  EXPECT_EQ(of("torch.softmax(x, dim=1)", "[torch.rand(64, 32)]"), "10240 0 1\n");
  // Sums of more are done in parts.
  EXPECT_EQ(of("x.sum()", "[torch.rand(1 << 20)]"), "1048576 0 65536\n");
}

TEST_F(TorchProblem, OfManyParametersTheBuffersWithoutEffectAreFound) {
  const std::string norms = problem_text(
      "    def __init__(self):\n        super().__init__()\n"
      "        self.n = nn.Sequential(nn.BatchNorm1d(7), nn.BatchNorm1d(7), nn.BatchNorm1d(7))\n\n"
      "    def forward(self, x):\n        return self.n(x)\n",
      "[torch.rand(30, 7)]");
  EXPECT_THAT(printed(norms,
                      "from torch_problem.describe import describe\n"
                      "print(describe(path)['insensitive_to'])\n"),
              HasSubstr("'n.0.running_mean', 'n.0.running_var', 'n.1.running_mean'"));
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
