// A real judge on a real GPU, on tasks made in code; skipped with the reason where there is none.
#pragma once

#include <gmock/gmock.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gpu/gpu_report.hpp"
#include "gpu/gpu_tasks.hpp"
#include "support/leftovers.hpp"
#include "worker/ceilings/machine.hpp"
#include "worker/cuda/cuda_ceilings.hpp"
#include "worker/cuda/cuda_ground.hpp"
#include "worker/judge/judge.hpp"
#include "worker/toolchain/cuda.hpp"

namespace kernelpro {

inline ToolchainSettings gpu_toolchain_settings(const std::string& architecture) {
  ToolchainSettings settings;
  settings.cache = KERNELPRO_BUILD_DIR "/test-cache";
  settings.abi_include = KERNELPRO_SOURCE_DIR "/include";
  settings.jail = KERNELPRO_BIN_DIR "/kernelpro-jail";
  settings.cuda_architecture = architecture;
  return settings;
}

// The first GPU, opened once for all tests of a suite.
class GpuTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    const Result<std::vector<GpuDescription>> gpus = list_gpus();
    if (!gpus) {
      reason_ = gpus.error().text();
      return;
    }
    environment_ = std::make_unique<testing::WorkerEnvironment>();
    Result<Toolchain> toolchain =
        Toolchain::open(gpu_toolchain_settings(gpus->front().architecture));
    ASSERT_TRUE(toolchain) << toolchain.error().text();
    toolchain_ = std::make_unique<Toolchain>(std::move(*toolchain));
    Result<std::unique_ptr<Gpu>> gpu = Gpu::open(gpus->front(), *toolchain_);
    ASSERT_TRUE(gpu) << gpu.error().text();
    gpu_ = std::move(*gpu);
    ground_ = make_cuda_ground(*gpu_, cupti_library(toolchain_->compilers()).string());
    gpu_report().set_gpu(gpu_->description().name, gpu_->description().driver_version);
  }

  static void TearDownTestSuite() {
    ground_.reset();
    gpu_.reset();
    toolchain_.reset();
    environment_.reset();
  }

  void SetUp() override {
    if (!reason_.empty()) {
      GTEST_SKIP() << "no GPU: " << reason_;
    }
    ASSERT_TRUE(ground_);
  }

  void TearDown() override {
    judge_.reset();
    EXPECT_THAT(testing::own_processes(), ::testing::IsEmpty());
  }

  [[nodiscard]] static JudgeSettings judge_settings() {
    const MachineRecord machine = describe_machine();
    JudgeSettings settings;
    settings.jail = KERNELPRO_BIN_DIR "/kernelpro-jail";
    settings.runner = KERNELPRO_BIN_DIR "/kernelpro-runner";
    settings.oracle = KERNELPRO_BIN_DIR "/kernelpro-oracle";
    settings.threads = std::max(machine.cores, 1);
    settings.memory_bytes = machine.memory_bytes;
    return settings;
  }

  // Measured by the first test that asks.
  [[nodiscard]] static Ceilings measured_ceilings() {
    CudaCeilingSettings settings;
    settings.cache = KERNELPRO_BUILD_DIR "/test-cache";
    settings.source = KERNELPRO_SOURCE_DIR "/ceilings/cuda.cu";
    const Result<Ceilings> measured = measure_cuda_ceilings(*gpu_, *toolchain_, settings);
    EXPECT_TRUE(measured) << measured.error().text();
    return measured ? *measured : Ceilings();
  }

  [[nodiscard]] static Result<std::unique_ptr<Judge>> try_open(
      const Task& task, const JudgeSettings& settings = judge_settings()) {
    return Judge::open(task, *toolchain_, measured_ceilings(), *ground_, settings);
  }

  void open(const Task& task, const JudgeSettings& settings = judge_settings()) {
    Result<std::unique_ptr<Judge>> judge = try_open(task, settings);
    ASSERT_TRUE(judge) << judge.error().text();
    judge_ = std::move(*judge);
  }

  // What is not judged is our fault and tried once more, as every caller does.
  [[nodiscard]] Verdict verdict_on(const Candidate& candidate, bool timed = true) const {
    EvaluateRequest request;
    request.candidate = candidate;
    request.timed = timed;
    Verdict verdict = judge_->evaluate(request).verdict;
    if (verdict.outcome == Outcome::not_judged) {
      std::printf("%s is judged again: %s\n", candidate.name.c_str(), verdict.summary.c_str());
      verdict = judge_->evaluate(request).verdict;
    }
    return verdict;
  }

  inline static std::string reason_;
  inline static std::unique_ptr<testing::WorkerEnvironment> environment_;
  inline static std::unique_ptr<Toolchain> toolchain_;
  inline static std::unique_ptr<Gpu> gpu_;
  inline static std::unique_ptr<Ground> ground_;
  std::unique_ptr<Judge> judge_;
};

}  // namespace kernelpro
