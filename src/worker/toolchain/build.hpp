// One build: flags, preprocessing, the cache, the compiler.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "worker/toolchain/build_cache.hpp"
#include "worker/toolchain/processor.hpp"
#include "worker/toolchain/toolchain.hpp"

namespace kernelpro {

struct BuildFlags {
  std::vector<std::string> compile;
  std::vector<std::string> link;
};

// All flags but those that name folders. An environment error when `openmp` is asked of a compiler
// that has none.
[[nodiscard]] Result<BuildFlags> build_flags(const BuildRequest& request, const Compiler& compiler);

// Names of files and libraries become parts of paths and flags: a bad_input error when one is not
// plain.
[[nodiscard]] Status check_names(const BuildRequest& request);

struct BuildSetting {
  const ToolchainSettings& settings;
  const BuildCache& cache;
  const Processor& processor;
  const Compiler& compiler;
  const BuildFlags& flags;
};

// The caller holds the CPU's lock.
[[nodiscard]] Result<BuildOutcome> build_in_jail(const BuildSetting& setting,
                                                 const BuildRequest& request, std::stop_token stop);

}  // namespace kernelpro
