// A real judge: real compilers, jail, runners and oracle, on tasks made in code.
#pragma once

#include <gmock/gmock.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "support/leftovers.hpp"
#include "support/small_task.hpp"
#include "worker/ceilings/ceilings.hpp"
#include "worker/ceilings/machine.hpp"
#include "worker/judge/host_ground.hpp"
#include "worker/judge/judge.hpp"

namespace kernelpro {

class JudgeTest : public ::testing::Test {
 protected:
  JudgeTest() {
    ToolchainSettings toolchain;
    toolchain.cache = cache_;
    toolchain.abi_include = std::filesystem::path(KERNELPRO_SOURCE_DIR) / "include";
    toolchain.jail = programs_ / "kernelpro-jail";
    Result<Toolchain> opened = Toolchain::open(toolchain);
    EXPECT_TRUE(opened) << opened.error().text();
    toolchain_.emplace(std::move(*opened));
    settings_.jail = (programs_ / "kernelpro-jail").string();
    settings_.runner = (programs_ / "kernelpro-runner").string();
    settings_.oracle = (programs_ / "kernelpro-oracle").string();
    settings_.threads = 1;
    settings_.timing_seconds = 0.05;
  }

  ~JudgeTest() override {
    judge_.reset();
    EXPECT_THAT(testing::own_processes(), ::testing::IsEmpty());
  }

  void open(const Task& task, const Ceilings& ceilings = {}) {
    Result<std::unique_ptr<Judge>> judge =
        Judge::open(task, *toolchain_, ceilings, *ground_, settings_);
    ASSERT_TRUE(judge) << judge.error().text();
    judge_ = std::move(*judge);
  }

  // Correctness only.
  [[nodiscard]] static EvaluateRequest untimed(const std::string& source) {
    EvaluateRequest request;
    request.candidate = testing::small_candidate(source);
    request.timed = false;
    return request;
  }

  [[nodiscard]] Verdict verdict_on(const EvaluateRequest& request) const {
    return judge_->evaluate(request).verdict;
  }

  // What this machine can do, measured by the first test that asks.
  [[nodiscard]] Ceilings measured_ceilings() const {
    CeilingSettings settings;
    settings.cache = cache_;
    settings.source = std::filesystem::path(KERNELPRO_SOURCE_DIR) / "ceilings" / "cpu.cpp";
    const Result<Ceilings> measured = measure_ceilings(*toolchain_, settings);
    EXPECT_TRUE(measured) << measured.error().text();
    return measured ? *measured : Ceilings();
  }

  const std::filesystem::path programs_ = KERNELPRO_BIN_DIR;
  const std::filesystem::path cache_ = KERNELPRO_BUILD_DIR "/test-cache";
  testing::WorkerEnvironment environment_;
  testing::OwnLock lock_;
  std::optional<Toolchain> toolchain_;
  JudgeSettings settings_;
  std::unique_ptr<Ground> ground_ = make_host_ground(1 << 20);
  std::unique_ptr<Judge> judge_;
};

}  // namespace kernelpro
