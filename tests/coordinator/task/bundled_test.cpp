// The tasks that come with the project, as far as they concern CUDA.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/base/file.hpp"
#include "common/model/tunables.hpp"
#include "coordinator/task/load.hpp"
#include "support/nvcc.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;

const fs::path tasks_folder = fs::path(KERNELPRO_SOURCE_DIR) / "tasks";

std::vector<std::string> bundled_tasks() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(tasks_folder)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<fs::path> cuda_sources(const fs::path& folder) {
  std::vector<fs::path> sources;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".cu") {
      sources.push_back(entry.path());
    }
  }
  std::sort(sources.begin(), sources.end());
  return sources;
}

class BundledTask : public testing::TestWithParam<std::string> {
 protected:
  [[nodiscard]] static fs::path folder() { return tasks_folder / GetParam(); }
};

TEST_P(BundledTask, HasABaselineAndTwoShapesForCuda) {
  const Result<Task> task = load_task(folder());
  ASSERT_TRUE(task.ok()) << task.error().text();
  EXPECT_EQ(task->shapes_on.at(Backend::cuda).size(), 2U);
  const auto baseline =
      std::find_if(task->baselines.begin(), task->baselines.end(),
                   [](const ImplementationSpec& spec) { return spec.backend == Backend::cuda; });
  ASSERT_NE(baseline, task->baselines.end());
  EXPECT_EQ(baseline->compiler, "nvcc");
  const Result<std::vector<Tunable>> tunables = parse_tunables(task->files.at(baseline->file));
  ASSERT_TRUE(tunables.ok()) << tunables.error().text();
  EXPECT_FALSE(tunables->empty()) << "without a tunable there is nothing to search from it";
}

TEST_P(BundledTask, HasTwoCandidatesForCudaWithTunables) {
  const std::vector<fs::path> candidates = cuda_sources(folder() / "candidates");
  EXPECT_EQ(candidates.size(), 2U);
  for (const fs::path& path : candidates) {
    const Result<std::string> source = read_file(path);
    ASSERT_TRUE(source.ok()) << source.error().text();
    const Result<std::vector<Tunable>> tunables = parse_tunables(*source);
    ASSERT_TRUE(tunables.ok()) << path << ": " << tunables.error().text();
    EXPECT_FALSE(tunables->empty()) << path;
    for (const Tunable& tunable : *tunables) {
      EXPECT_THAT(tunable.values, testing::Contains(tunable.current)) << path << tunable.name;
    }
  }
}

TEST_P(BundledTask, CompilesForCuda) {
  const std::optional<std::string> nvcc = find_nvcc();
  if (!nvcc) {
    GTEST_SKIP() << "nvcc is neither in PATH nor in /usr/local/cuda/bin";
  }
  const Result<ScratchDir> scratch = ScratchDir::create("bundled-cuda");
  ASSERT_TRUE(scratch.ok()) << scratch.error().text();
  for (const fs::path& source : cuda_sources(folder())) {
    if (source.stem() == "baseline") {
      continue;  // compiled as it is exported, by the tests of coordinator/report
    }
    const Result<Finished> finished = compile_for_cuda(*nvcc, source, scratch->path() / "out.o");
    ASSERT_TRUE(finished.ok()) << finished.error().text();
    EXPECT_TRUE(finished->succeeded()) << source << "\n" << finished->output << finished->errors;
  }
}

INSTANTIATE_TEST_SUITE_P(Tasks, BundledTask, testing::ValuesIn(bundled_tasks()),
                         [](const auto& instance) { return instance.param; });

}  // namespace
}  // namespace kernelpro
