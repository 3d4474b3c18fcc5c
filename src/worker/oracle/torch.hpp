// PyTorch as a partner: oracle/torch_oracle.py, trusted, in a process of its own.
#pragma once

#include <filesystem>
#include <stop_token>
#include <string>

#include "common/base/result.hpp"
#include "worker/runner/runner_process.hpp"
#include "worker/toolchain/toolchain.hpp"

namespace kernelpro {

struct TorchSettings {
  std::string jail;    // kernelpro-jail
  std::string script;  // torch_oracle.py
  int threads = 1;
  std::stop_token stop;
};

enum class TorchRole { reference, eager };

// How that role's process is started: by the Python that KERNELPRO_PYTHON names, else by the first
// python3 of PATH that has PyTorch. An environment error says what is missing.
[[nodiscard]] Result<RunnerSettings> torch_runner(const TorchSettings& settings, TorchRole role);

// What stands for the build of a module in KernelBench's form: its file, written to `folder`.
[[nodiscard]] Result<BuildOutcome> torch_build(const std::string& source,
                                               const std::filesystem::path& folder);

}  // namespace kernelpro
