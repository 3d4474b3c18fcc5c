// Finds out which flags make code that runs on this very processor.
#pragma once

#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "worker/toolchain/processor.hpp"
#include "worker/toolchain/toolchain.hpp"

namespace kernelpro {

using Flags = std::vector<std::string>;

// What is worth trying on `processor`, best first; the last is always the empty list (generic).
[[nodiscard]] std::vector<Flags> target_choices(const Processor& processor);

enum class ProbeResult { works, does_not_build, does_not_run, wrong_result };

// Builds a program of vectorized loops with `flags` and runs it in the jail.
[[nodiscard]] Result<ProbeResult> probe_target(const ToolchainSettings& settings,
                                               const std::string& compiler, const Flags& flags);

// The same with a parallel loop, for OpenMP.
[[nodiscard]] Result<ProbeResult> probe_openmp(const ToolchainSettings& settings,
                                               const std::string& compiler, const Flags& flags);

// Identifies a compiler for caches: path, version, and size and time of the program file; of nvcc
// also those of its host compiler.
[[nodiscard]] std::string compiler_stamp(const Compiler& compiler);

// Fills target_flags and openmp_flags, from <cache>/targets.json where this compiler was probed on
// this processor before. An environment error when not even a generic program builds and runs.
[[nodiscard]] Status probe_compiler(const ToolchainSettings& settings, const Processor& processor,
                                    Compiler& compiler);

// Fills the target_flags of nvcc with the architecture of `settings`, when a small kernel builds
// for it or did before. An environment error with nvcc's words when it does not.
[[nodiscard]] Status probe_nvcc(const ToolchainSettings& settings, Compiler& nvcc);

}  // namespace kernelpro
