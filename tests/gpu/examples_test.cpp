// The examples that moves show to whoever writes a kernel are right, on a real GPU.
#include <cstdio>
#include <functional>
#include <map>

#include "gpu/example_tasks.hpp"
#include "gpu/fixture.hpp"

namespace kernelpro {
namespace {

using namespace kernelpro::testing;

const std::filesystem::path& examples_folder() {
  static const std::filesystem::path folder =
      std::filesystem::path(KERNELPRO_SOURCE_DIR) / "knowledge" / "examples" / "cuda";
  return folder;
}

// What each of them computes.
const std::map<std::string, std::function<Task()>>& tasks_of_examples() {
  static const std::map<std::string, std::function<Task()>> tasks = {
      {"cache_hints", rows_task},          {"cluster_shared", row_softmax_task},
      {"misaligned_rows", row_scale_task}, {"split_precision", product32_task},
      {"stream_k", product32_task},        {"tma_pipeline", stream_task},
      {"warpgroup_mma", product16_task},
  };
  return tasks;
}

std::vector<std::string> names_of_examples() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(examples_folder())) {
    names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

class GpuExamples : public GpuTest, public ::testing::WithParamInterface<std::string> {};

TEST_P(GpuExamples, ArePassedByTheJudge) {
  const auto task = tasks_of_examples().find(GetParam());
  ASSERT_NE(task, tasks_of_examples().end()) << "say in tasks_of_examples() what it computes";
  const Result<std::string> source = read_file(examples_folder() / (GetParam() + ".cu"));
  ASSERT_TRUE(source) << source.error().text();
  ASSERT_NO_FATAL_FAILURE(open(task->second()));
  Candidate example;
  example.name = GetParam();
  example.source = *source;
  example.backend = Backend::cuda;
  example.compiler = "nvcc";
  example.options = {"-O3", "-std=c++17"};
  const Verdict verdict = verdict_on(example);
  EXPECT_EQ(verdict.outcome, Outcome::passed)
      << verdict.summary << ::testing::PrintToString(verdict.evidence);
  EXPECT_FALSE(verdict.suspect) << ::testing::PrintToString(verdict.evidence);
  for (const ShapeTiming& shape : verdict.timing.shapes) {
    std::printf("%s: %.1f us, the plainest kernel %.1f us\n", GetParam().c_str(),
                shape.candidate_ns / 1e3, shape.incumbent_ns / 1e3);
  }
}

INSTANTIATE_TEST_SUITE_P(All, GpuExamples, ::testing::ValuesIn(names_of_examples()),
                         [](const auto& one) { return one.param; });

}  // namespace
}  // namespace kernelpro
