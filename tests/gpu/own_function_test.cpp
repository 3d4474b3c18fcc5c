// The one command on launchers as repositories hold them: task, search, patch.
#include <gmock/gmock.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "common/base/file.hpp"
#include "common/base/process.hpp"
#include "worker/cuda/gpu.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

constexpr const char* own_program = KERNELPRO_BIN_DIR "/kernelpro";

class GpuOwnFunction : public ::testing::TestWithParam<Words> {
 protected:
  void SetUp() override {
    if (const auto gpus = list_gpus(); !gpus) {
      GTEST_SKIP() << "no GPU: " << gpus.error().text();
    }
    if (!fs::exists(own_program)) {
      GTEST_SKIP() << "only the worker was built: there is no " << own_program;
    }
    ASSERT_TRUE(scratch_.ok()) << scratch_.error().text();
    fs::copy(KERNELPRO_SOURCE_DIR "/tests/own/cuda", root(), fs::copy_options::recursive);
    fs::create_directories(root() / ".kernelpro");
  }

  [[nodiscard]] const fs::path& root() const { return scratch_->path(); }

  [[nodiscard]] Finished run(const Words& words) const {
    Command command;
    command.arguments = words;
    command.directory = root().string();
    command.inherit_environment = true;
    command.timeout_ms = 600'000;
    const auto finished = run_command(command);
    EXPECT_TRUE(finished.ok()) << finished.error().text();
    return finished.ok() ? *finished : Finished{};
  }

 private:
  Result<ScratchDir> scratch_ = ScratchDir::create("gpu-own");
};

TEST_P(GpuOwnFunction, BecomesATaskAndComesBackAsAPatchThatIsJudged) {
  Words words = {own_program, "optimize"};
  words.insert(words.end(), GetParam().begin(), GetParam().end());
  words.insert(words.end(), {"-n", "8", "--json"});
  const Finished finished = run(words);
  constexpr int nothing_faster = 3;
  ASSERT_TRUE(finished.exit_code == 0 || finished.exit_code == nothing_faster) << finished.errors;
  const auto result = nlohmann::json::parse(finished.output, nullptr, false);
  ASSERT_TRUE(result.is_object()) << finished.output;
  const std::string task = result.value("task", "");
  const std::string file = GetParam()[0].substr(0, GetParam()[0].find(':'));
  if (const std::string patch = result.value("patch", ""); !patch.empty()) {
    const Finished applied = run({"patch", "-p1", "-i", fs::absolute(root() / patch).string()});
    ASSERT_TRUE(applied.succeeded()) << applied.output;
  }
  // Patched or not, the file is a candidate of its own task.
  const Finished judged =
      run({own_program, "evaluate", task, file, "--backend", "cuda", "--no-timing"});
  EXPECT_EQ(judged.exit_code, 0) << judged.output << judged.errors;
}

INSTANTIATE_TEST_SUITE_P(, GpuOwnFunction,
                         ::testing::Values(Words{"gelu.cu:gelu_forward"},
                                           Words{"heat.cu:heat_step"},
                                           Words{"row_norm.cu:ops::row_norm<float>", "--reference",
                                                 "row_norm_check.cpp:ops::row_norm_host"}),
                         [](const auto& named) {
                           return named.param[0].substr(0, named.param[0].find('.'));
                         });

}  // namespace
}  // namespace kernelpro
