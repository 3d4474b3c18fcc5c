// Problems in KernelBench's form, from the checkout to a verdict, with real PyTorch on the CPU.
#include "cli/fixture.hpp"
#include "support/torch.hpp"

namespace kernelpro {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using testing::Cli;
using ::testing::HasSubstr;
using testing::Json;
using testing::linear_problem;
using testing::make_checkout;
using testing::masked_problem;
using testing::problem_text;
using testing::relu_problem;
using testing::write;

const std::string relu_source =
    "#include \"kernelpro/candidate.h\"\n"
    "int kp_launch(const kp_context*, const kp_tensor* tensors, int32_t count) {\n"
    "  if (count != 2) return 1;\n"
    "  const float* x = static_cast<const float*>(tensors[0].data);\n"
    "  float* y = static_cast<float*>(tensors[1].data);\n"
    "  const int64_t n = tensors[0].shape[0] * tensors[0].shape[1];\n"
    "  for (int64_t i = 0; i < n; ++i) y[i] = x[i] > 0 ? x[i] : 0;\n"
    "  return 0;\n}\n";

// Linear, normalized over the batch, scaled; and where each row is largest.
const std::string linear_source =
    "#include <cmath>\n#include <vector>\n#include \"kernelpro/candidate.h\"\n"
    "int kp_launch(const kp_context* context, const kp_tensor* t, int32_t count) {\n"
    "  if (count != 9) return 1;\n"
    "  const auto in = [t](int i) { return static_cast<const float*>(t[i].data); };\n"
    "  const int64_t rows = t[0].shape[0], wide = t[0].shape[1], narrow = t[1].shape[0];\n"
    "  float* y = static_cast<float*>(t[7].data);\n"
    "  int64_t* best = static_cast<int64_t*>(t[8].data);\n"
    "  for (int64_t j = 0; j < narrow; ++j) {\n"
    "    double mean = 0, squares = 0;\n"
    "    std::vector<double> column(static_cast<size_t>(rows));\n"
    "    for (int64_t i = 0; i < rows; ++i) {\n"
    "      double sum = in(2)[j];\n"
    "      for (int64_t k = 0; k < wide; ++k) sum += double(in(0)[i * wide + k]) * in(1)[j * wide "
    "+ "
    "k];\n"
    "      column[static_cast<size_t>(i)] = sum;\n      mean += sum / double(rows);\n    }\n"
    "    for (const double value : column) squares += (value - mean) * (value - mean);\n"
    "    const double scale = in(3)[j] / std::sqrt(squares / double(rows) + 1e-5);\n"
    "    for (int64_t i = 0; i < rows; ++i) {\n"
    "      y[i * narrow + j] = float(((column[static_cast<size_t>(i)] - mean) * scale + in(4)[j]) "
    "*\n"
    "                                context->scalars[0]);\n    }\n  }\n"
    "  for (int64_t i = 0; i < rows; ++i) {\n    best[i] = 0;\n"
    "    for (int64_t j = 1; j < narrow; ++j) {\n"
    "      if (y[i * narrow + j] > y[i * narrow + best[i]]) best[i] = j;\n    }\n  }\n"
    "  return 0;\n}\n";

const std::string positive_relu_problem = problem_text(
    "    def forward(self, x):\n        return torch.relu(x)\n", "[torch.rand(32, 50)]");

// Thirteen linear layers: 26 parameters.
const std::string deep_problem = problem_text(
    "    def __init__(self):\n        super().__init__()\n"
    "        self.net = nn.Sequential(*[nn.Linear(4, 4) for _ in range(13)])\n\n"
    "    def forward(self, x):\n        return self.net(x)\n",
    "[torch.randn(16, 4)]");

class KernelBench : public Cli {
 protected:
  void SetUp() override { SKIP_WITHOUT_TORCH(); }

  void make_task(const std::string& problem) {
    make_checkout(work() / "checkout", problem);
    const auto made =
        kernelpro({"task", "new", "--kernelbench", "checkout", "--level", "1", "--problem", "7"});
    ASSERT_EQ(made.exit_code, 0) << made.errors;
    EXPECT_THAT(made.output, HasSubstr("tasks/kernelbench_1_7"));
  }

  // The verdicts on sources, by one command: PyTorch takes seconds to start.
  [[nodiscard]] std::vector<Json> verdicts_on(const std::vector<std::string>& sources) {
    testing::Words words = {"evaluate", "kernelbench_1_7", "--no-timing", "--json",
                            "--quiet",  "--timeout",       "60s"};
    for (const std::string& source : sources) {
      words.push_back("mine_" + std::to_string(words.size()) + ".cpp");
      write(work() / words.back(), source);
    }
    const auto judged = kernelpro(words);
    const Json json = Json::parse(judged.output, nullptr, false);
    EXPECT_TRUE(json.is_object()) << judged.output << judged.errors;
    std::vector<Json> verdicts;
    for (const Json& evaluation : json["evaluations"]) {
      verdicts.push_back(evaluation["certificate"]["verdict"]);
    }
    EXPECT_EQ(verdicts.size(), sources.size()) << judged.output << judged.errors;
    verdicts.resize(sources.size());
    return verdicts;
  }
};

TEST_F(KernelBench, AProblemBecomesATaskThatJudges) {
  ASSERT_NO_FATAL_FAILURE(make_task(relu_problem));
  const std::vector<Json> verdicts =
      verdicts_on({relu_source, testing::replaced(relu_source, ": 0;", ": 1e-3F;")});
  EXPECT_EQ(verdicts[0]["outcome"], "passed");
  EXPECT_EQ(verdicts[1]["outcome"], "incorrect");
  EXPECT_THAT(verdicts[1]["summary"].get<std::string>(), HasSubstr("expected 0"));
}

TEST_F(KernelBench, TheModuleItselfIsTimedAsTheBaseline) {
  ASSERT_NO_FATAL_FAILURE(make_task(relu_problem));
  const auto judged = kernelpro({"evaluate", "kernelbench_1_7", "torch-eager-cpu", "--json",
                                 "--quiet", "--timing", "0.02", "--timeout", "60s"});
  const Json json = Json::parse(judged.output, nullptr, false);
  ASSERT_TRUE(json.is_object()) << judged.output << judged.errors;
  const Json& one = json["evaluations"][0];
  EXPECT_EQ(one["certificate"]["verdict"]["outcome"], "passed") << one.dump(1);
  EXPECT_THAT(one["implementation"].get<std::string>(), HasSubstr("PyTorch"));
}

TEST_F(KernelBench, ParametersScalarsAndSeveralOutputsReachTheCandidate) {
  ASSERT_NO_FATAL_FAILURE(make_task(linear_problem));
  const std::string for_one_set_of_weights =
      testing::replaced(linear_source, "double sum = in(2)[j];",
                        "static const float kept = in(2)[0];\n"
                        "      double sum = in(2)[j] + (in(2)[0] - kept) * double(i);");
  const std::vector<Json> verdicts = verdicts_on({linear_source, for_one_set_of_weights});
  EXPECT_EQ(verdicts[0]["outcome"], "passed") << verdicts[0].dump(1);
  EXPECT_EQ(verdicts[1]["outcome"], "incorrect");
}

TEST_F(KernelBench, MasksAreBytesAndALossIsOneElement) {
  ASSERT_NO_FATAL_FAILURE(make_task(masked_problem));
  const std::vector<Json> right =
      verdicts_on({"#include \"kernelpro/candidate.h\"\n"
                   "int kp_launch(const kp_context*, const kp_tensor* tensors, int32_t count) {\n"
                   "  if (count != 3 || tensors[2].rank != 0) return 1;\n"
                   "  const float* x = static_cast<const float*>(tensors[0].data);\n"
                   "  const uint8_t* mask = static_cast<const uint8_t*>(tensors[1].data);\n"
                   "  double sum = 0;\n  int64_t taken = 0;\n"
                   "  for (int64_t i = 0; i < tensors[0].shape[0]; ++i) {\n"
                   "    sum += mask[i] ? double(x[i]) * x[i] : 0;\n    taken += mask[i];\n  }\n"
                   "  *static_cast<float*>(tensors[2].data) = float(sum / double(taken));\n"
                   "  return 0;\n}\n"});
  EXPECT_EQ(right[0]["outcome"], "passed") << right[0].dump(1);
}

TEST_F(KernelBench, WhatPassesOnTheModulesOwnInputsAloneIsNamedAndCaught) {
  // torch.rand gives no negative numbers: a ReLU has nothing to do.
  make_checkout(work() / "checkout", positive_relu_problem);
  const auto made = kernelpro({"task", "new", "--kernelbench", "checkout", "--problem", "7"});
  ASSERT_EQ(made.exit_code, 0) << made.errors;
  EXPECT_THAT(made.output, HasSubstr("Degenerate: an input passes"));
  const std::vector<Json> verdicts =
      verdicts_on({relu_source, testing::replaced(relu_source, "x[i] > 0 ? x[i] : 0", "x[i]")});
  EXPECT_EQ(verdicts[0]["outcome"], "passed");
  EXPECT_EQ(verdicts[1]["outcome"], "incorrect");
  EXPECT_EQ(verdicts[1]["stage"], "distributions");
}

TEST_F(KernelBench, ManyParametersAreOneTensor) {
  ASSERT_NO_FATAL_FAILURE(make_task(deep_problem));
  const std::string source =
      "#include <algorithm>\n#include \"kernelpro/candidate.h\"\n"
      "int kp_launch(const kp_context*, const kp_tensor* t, int32_t count) {\n"
      "  if (count != 3 || t[1].rank != 1) return 1;\n"
      "  const float* x = static_cast<const float*>(t[0].data);\n"
      "  const float* p = static_cast<const float*>(t[1].data);\n"
      "  float* y = static_cast<float*>(t[2].data);\n"
      "  for (int64_t row = 0; row < t[0].shape[0]; ++row) {\n"
      "    double a[4];\n    std::copy(x + 4 * row, x + 4 * row + 4, a);\n"
      "    for (int layer = 0; layer < 13; ++layer) {\n"
      "      const float* w = p + 128 * layer;\n      double b[4];\n"
      "      for (int i = 0; i < 4; ++i) {\n        b[i] = w[64 + i];\n"
      "        for (int k = 0; k < 4; ++k) b[i] += w[4 * i + k] * a[k];\n      }\n"
      "      std::copy(b, b + 4, a);\n    }\n"
      "    std::copy(a, a + 4, y + 4 * row);\n  }\n  return 0;\n}\n";
  const std::vector<Json> verdicts =
      verdicts_on({source, testing::replaced(source, "layer < 13", "layer < 12")});
  EXPECT_EQ(verdicts[0]["outcome"], "passed") << verdicts[0].dump(1);
  EXPECT_EQ(verdicts[1]["outcome"], "incorrect");
}

TEST_F(KernelBench, ACandidateIsNeverRunAsPython) {
  ASSERT_NO_FATAL_FAILURE(make_task(relu_problem));
  write(work() / "mine.cpp", "// kp:compiler torch\n" + relu_source);
  const auto judged = kernelpro({"evaluate", "kernelbench_1_7", "mine.cpp"});
  EXPECT_NE(judged.exit_code, 0);
  EXPECT_THAT(judged.errors + judged.output, HasSubstr("there is no compiler \"torch\" here"));
}

TEST_F(KernelBench, APythonWithoutPyTorchIsNamed) {
  make_checkout(work() / "checkout", relu_problem);
  set("KERNELPRO_PYTHON", "/bin/false");
  const auto made =
      kernelpro({"task", "new", "--kernelbench", "checkout", "--level", "1", "--problem", "7"});
  EXPECT_EQ(made.exit_code, 5);
  EXPECT_THAT(made.errors, AllOf(HasSubstr("/bin/false"), HasSubstr("has no PyTorch")));
}

TEST_F(KernelBench, OptimisingSaysThatItNeedsCandidatesToSearchFrom) {
  ASSERT_NO_FATAL_FAILURE(make_task(relu_problem));
  const auto done = kernelpro({"optimize", "kernelbench_1_7", "--evaluations", "2"});
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_THAT(done.errors, HasSubstr("give candidates to search from (--from FILE), or a model"));
  write(work() / "mine.cpp", relu_source);
  const auto from = kernelpro({"optimize", "kernelbench_1_7", "--evaluations", "2", "--quiet",
                               "--from", "mine.cpp", "--timing", "0.02", "--timeout", "60s"});
  // Whether it is faster than PyTorch is not what is tested.
  EXPECT_THAT(from.exit_code, AnyOf(0, 3)) << from.errors << from.output;
  EXPECT_THAT(from.output, HasSubstr("2 passed"));
  const auto exported =
      kernelpro({"export", "kernelbench_1_7-1", "1", "there", "--accept-suspect"});
  EXPECT_EQ(exported.exit_code, 2);
  EXPECT_THAT(exported.errors, HasSubstr("its inputs are drawn by PyTorch"));
}

}  // namespace
}  // namespace kernelpro
