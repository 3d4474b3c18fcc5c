// Models write the first kernels of several KernelBench problems, all in one batch, with real
// PyTorch on the CPU.
#include "cli/batch.hpp"
#include "support/torch.hpp"

namespace kernelpro {
namespace {

using namespace kernelpro::testing;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class SuiteByModels : public BatchCli {
 protected:
  void SetUp() override {
    SKIP_WITHOUT_TORCH();
    make_checkout(work() / "checkout", slow_problem("torch.relu(x)"));
    write(work() / "checkout" / "KernelBench" / "level1" / "8_Doubled.py",
          slow_problem("2 * x + 1"));
  }

  // So slow in PyTorch, whatever runs beside it, that anything is faster; and a round has few
  // calls, each of which needs inputs of its own.
  static std::string slow_problem(const std::string& value) {
    return problem_text(
        "    def forward(self, x):\n        for _ in range(100):\n            y = " + value +
            "\n        return y\n",
        "[torch.randn(16, 40)]");
  }

  [[nodiscard]] Finished bench() const {
    return kernelpro({"bench", "kernelbench", "--kernelbench", "checkout", "--levels", "1",
                      "--problems", "7,8", "--llm", "batch:questions", "--candidates", "best", "-n",
                      "1", "--timing", "0.02", "--accept-suspect"});
  }

  // As the planner and the coder of either problem.
  static std::string model(const std::string& role, const Json& request) {
    const std::string text = text_of(request);
    EXPECT_THAT(text, AllOf(HasSubstr("def forward"), HasSubstr("kp_launch")));
    if (role == "planner") {
      return R"({"move": "one_loop", "plan": "one loop", "predicted_gain": 3, "why": "small"})";
    }
    const bool relu = request["custom_id"].get<std::string>().starts_with("kernelbench_1_7");
    return std::string(
               "```cpp\n#include \"kernelpro/candidate.h\"\n"
               "int kp_launch(const kp_context*, const kp_tensor* t, int32_t) {\n"
               "  const float* x = static_cast<const float*>(t[0].data);\n"
               "  float* y = static_cast<float*>(t[1].data);\n"
               "  const int64_t n = t[0].shape[0] * t[0].shape[1];\n"
               "  for (int64_t i = 0; i < n; ++i) y[i] = ") +
           (relu ? "x[i] > 0 ? x[i] : 0" : "2 * x[i] + 1") + ";\n  return 0;\n}\n```\n";
  }
};

TEST_F(SuiteByModels, AllProblemsWaitInOneBatchAndTheirBestAreMeasured) {
  Finished last = bench();
  expect_exit(last, 4);
  EXPECT_THAT(last.errors, AllOf(HasSubstr("kernelbench_1_7-1"), HasSubstr("kernelbench_1_8-1"),
                                 HasSubstr("questions/requests.jsonl")));
  EXPECT_THAT(requests(), SizeIs(2)) << "one of each problem";
  for (int rounds = 0; last.exit_code == 4 && rounds < 6; ++rounds) {
    answer(model);
    last = bench();
  }
  expect_exit(last, 0);
  EXPECT_TRUE(fs::exists(work() / "best" / "1_7.cpp"));
  EXPECT_TRUE(fs::exists(work() / "best" / "1_8.cpp"));
  const Json shown = json({"bench", "kernelbench"}, "cli_bench_kernelbench.json", 0);
  ASSERT_THAT(shown["problems"], SizeIs(2)) << last.errors;
  for (const Json& problem : shown["problems"]) {
    ASSERT_TRUE(problem.contains("candidate")) << problem.dump(1) << last.errors;
    EXPECT_EQ(problem["candidate"]["outcome"], "passed") << problem.dump(1);
  }
}

TEST_F(SuiteByModels, NeedsAFolderForTheBest) {
  const Finished refused = kernelpro({"bench", "kernelbench", "--kernelbench", "checkout",
                                      "--levels", "1", "--llm", "batch:questions"});
  expect_exit(refused, 2);
  EXPECT_THAT(refused.errors, HasSubstr("--candidates"));
}

}  // namespace
}  // namespace kernelpro
