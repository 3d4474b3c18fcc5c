// Exports for PyTorch, from a run to a Python that uses them.
#include "cli/fixture.hpp"
#include "common/base/hash.hpp"
#include "support/torch.hpp"

namespace kernelpro {
namespace {

using ::testing::AnyOf;
using testing::Cli;
using testing::content_of;
using testing::expect_exit;
using ::testing::HasSubstr;
using testing::Json;
using testing::write;

const std::string scaled_linear_problem = testing::problem_text(
    "    def __init__(self, wide, narrow):\n        super().__init__()\n"
    "        self.linear = nn.Linear(wide, narrow)\n\n"
    // Slow in PyTorch, so that a round has few calls, each of which needs inputs of its own.
    "    def forward(self, x, factor):\n        for _ in range(50):\n"
    "            y = self.linear(x) * factor\n        return y\n",
    "[torch.rand(32, 24), 2.5]", "[24, 16]");

const std::string candidate =
    "// kp:options -O3 target\n#include \"kernelpro/candidate.h\"\n"
    "int kp_launch(const kp_context* context, const kp_tensor* t, int32_t count) {\n"
    "  if (count != 4) return 1;\n"
    "  const auto in = [t](int i) { return static_cast<const float*>(t[i].data); };\n"
    "  for (int i = 0; i < 32; ++i) for (int j = 0; j < 16; ++j) {\n    double sum = in(2)[j];\n"
    "    for (int k = 0; k < 24; ++k) sum += double(in(0)[i * 24 + k]) * in(1)[j * 24 + k];\n"
    "    static_cast<float*>(t[3].data)[i * 16 + j] = float(sum * context->scalars[0]);\n  }\n"
    "  return 0;\n}\n";

class ExportForms : public Cli {
 protected:
  void SetUp() override { SKIP_WITHOUT_TORCH(); }

  [[nodiscard]] Finished python(const std::string& script, const std::string& folder) {
    set("TORCH_EXTENSIONS_DIR", (work() / "extensions").string());
    set("PATH", "/usr/bin:/bin");
    set("PYTHONDONTWRITEBYTECODE", "1");
    Command call = command({python_with_torch()->path, "-c", script});
    call.directory = (work() / folder).string();
    return run_to_end(call);
  }
};

TEST_F(ExportForms, AJudgedCandidateStandsInForItsModule) {
  testing::make_checkout(work() / "checkout", scaled_linear_problem);
  expect_exit(
      kernelpro({"task", "new", "--kernelbench", "checkout", "--level", "1", "--problem", "7"}), 0);
  write(work() / "mine.cpp", candidate);
  const Finished searched = kernelpro({"optimize", "kernelbench_1_7", "--evaluations", "2",
                                       "--quiet", "--from", "mine.cpp", "--timing", "0.02"});
  // Whether it is faster than PyTorch is not what is tested.
  ASSERT_THAT(searched.exit_code, AnyOf(0, 3)) << searched.errors << searched.output;
  ASSERT_THAT(searched.output, HasSubstr("2 passed"));
  const testing::Words one = {"export", "kernelbench_1_7-1", "1", "there", "--accept-suspect"};

  const Finished unnamed = kernelpro(one);
  expect_exit(unnamed, 2);
  EXPECT_THAT(unnamed.errors, HasSubstr("--as can be kernelbench, torch, "));
  const Finished unknown = kernelpro({"export", "r", "there", "--as", "onnx"});
  expect_exit(unknown, 1);
  EXPECT_THAT(unknown.errors, HasSubstr("onnx"));

  testing::Words as = one;
  as.insert(as.end(), {"--as", "kernelbench"});
  const Finished exported = kernelpro(as);
  expect_exit(exported, 0);
  EXPECT_THAT(exported.output, HasSubstr("exported to there: `cat README.md` there"));
  const Finished ran = python(R"py(
import torch
from model_new import ModelNew, _KP_PROBLEM as problem
made = []
for kind in (problem.Model, ModelNew):
    torch.manual_seed(42)
    made.append(kind(*problem.get_init_inputs()))
inputs = problem.get_inputs()
with torch.no_grad():
    assert torch.allclose(made[0](*inputs), made[1](*inputs), atol=1e-5)
)py",
                              "there");
  expect_exit(ran, 0);

  // The very binary that was judged.
  const Json certificate = Json::parse(content_of(work() / "there" / "certificate.json"));
  std::vector<std::string> hashes;
  for (const auto& entry :
       std::filesystem::directory_iterator(work() / "extensions" / "kernelpro_exports")) {
    hashes.push_back(sha256(content_of(entry.path())));
  }
  EXPECT_THAT(hashes, ::testing::ElementsAre(certificate["build"]["binary_hash"]));

  as = one;
  as.insert(as.end(), {"--as", "torch", "--overwrite", "--json"});
  const Json listed = Json::parse(kernelpro(as).output, nullptr, false);
  ASSERT_TRUE(listed.is_object());
  EXPECT_THAT(listed["files"], ::testing::Contains("kernelbench_1_7_op/__init__.py"));
  const Finished tested = python(
      "import test_op\ntest_op.test_answers_are_the_same()\n"
      "test_op.test_gradients_are_the_originals()\n",
      "there");
  expect_exit(tested, 0);
  EXPECT_THAT(tested.output, HasSubstr("kernel calls: 1, fallbacks: 0"));
}

}  // namespace
}  // namespace kernelpro
