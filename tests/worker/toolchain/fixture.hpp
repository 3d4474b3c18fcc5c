// A toolchain on a cache of its own, with the probes of an earlier run where there was one.
#pragma once

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/file.hpp"
#include "worker/toolchain/toolchain.hpp"

namespace kernelpro {

inline constexpr const char* doubling_source = R"(
#include <kernelpro/candidate.h>
extern "C" int kp_launch(const kp_context*, const kp_tensor* tensors, int32_t) {
  float* out = static_cast<float*>(tensors[0].data);
  for (int64_t i = 0; i < tensors[0].shape[0]; ++i) out[i] *= 2;
  return 0;
}
)";

// A source whose kp_launch is there, so that only `extra` decides whether it builds.
inline std::string source_with(const std::string& extra) {
  return extra + "\n" + doubling_source;
}

// Those that make code for this processor, which tests may load and run.
inline std::vector<Compiler> processor_compilers(const Toolchain& toolchain) {
  std::vector<Compiler> out;
  for (const Compiler& compiler : toolchain.compilers()) {
    if (compiler.host_compiler.empty()) {
      out.push_back(compiler);
    }
  }
  return out;
}

class ToolchainTest : public testing::Test {
 protected:
  void SetUp() override {
    Result<ScratchDir> scratch = ScratchDir::create("toolchain-test");
    ASSERT_TRUE(scratch.ok()) << scratch.error().text();
    scratch_.emplace(std::move(*scratch));
    // The machine's real lock may be held by a real timing.
    setenv("KERNELPRO_LOCK_DIR", scratch_->path().c_str(), 1);
  }

  [[nodiscard]] ToolchainSettings fresh_settings() const {
    ToolchainSettings settings;
    settings.cache = scratch_->path() / "cache";
    settings.abi_include = std::filesystem::path(KERNELPRO_SOURCE_DIR) / "include";
    settings.jail = std::filesystem::path(KERNELPRO_BIN_DIR) / "kernelpro-jail";
    return settings;
  }

  // Probing takes seconds, so its results are kept beside the tests; builds are not.
  [[nodiscard]] ToolchainSettings probed_settings() const {
    ToolchainSettings settings = fresh_settings();
    const ToolchainSettings own = settings;
    settings.cache = std::filesystem::path(KERNELPRO_BIN_DIR).parent_path() / "toolchain-probes";
    const Result<Toolchain> probed = Toolchain::open(settings);
    EXPECT_TRUE(probed.ok()) << probed.error().text();
    std::filesystem::create_directories(own.cache);
    std::filesystem::copy_file(settings.cache / "targets.json", own.cache / "targets.json",
                               std::filesystem::copy_options::overwrite_existing);
    return own;
  }

  [[nodiscard]] static Toolchain open(const ToolchainSettings& settings) {
    Result<Toolchain> toolchain = Toolchain::open(settings);
    EXPECT_TRUE(toolchain.ok()) << toolchain.error().text();
    return std::move(*toolchain);
  }

  [[nodiscard]] static BuildOutcome build(const Toolchain& toolchain, const BuildRequest& request) {
    Result<BuildOutcome> outcome = toolchain.build(request);
    EXPECT_TRUE(outcome.ok()) << outcome.error().text();
    return outcome.ok() ? std::move(*outcome) : BuildOutcome();
  }

  [[nodiscard]] const std::filesystem::path& scratch() const { return scratch_->path(); }

 private:
  std::optional<ScratchDir> scratch_;
};

}  // namespace kernelpro
