// PyTorch as a partner: oracle/torch_oracle.py, trusted, in a process of its own.
#pragma once

#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "worker/runner/runner_process.hpp"
#include "worker/toolchain/toolchain.hpp"

namespace kernelpro {

struct TorchSettings {
  std::string jail;    // kernelpro-jail
  std::string script;  // torch_oracle.py
  std::string device;  // the GPU's UUID; empty: the CPU
  int threads = 1;
  bool warm = false;  // calls are timed with what the caches hold
  std::stop_token stop;
};

// What torch_oracle.py is asked to be beside PyTorch's modes: the reference in double.
inline constexpr const char* torch_reference = "reference";

// How that mode's process is started: by the Python that KERNELPRO_PYTHON names, else by the first
// python3 of PATH that has PyTorch. An environment error says what is missing.
[[nodiscard]] Result<RunnerSettings> torch_runner(const TorchSettings& settings,
                                                  const std::string& mode);

// What stands for the build of a module in KernelBench's form: its file, written to `folder`.
// `options` names the mode, or is empty for the contract's. A bad_input error for others.
[[nodiscard]] Result<BuildOutcome> torch_build(const std::string& source,
                                               const std::vector<std::string>& options,
                                               const std::filesystem::path& folder);

}  // namespace kernelpro
