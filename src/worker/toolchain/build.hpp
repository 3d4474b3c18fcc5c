// One build: preprocessing, the cache, the compiler.
#pragma once

#include <stop_token>

#include "common/base/result.hpp"
#include "worker/toolchain/build_cache.hpp"
#include "worker/toolchain/flags.hpp"
#include "worker/toolchain/header_tree.hpp"
#include "worker/toolchain/processor.hpp"
#include "worker/toolchain/toolchain.hpp"

namespace kernelpro {

struct BuildSetting {
  const ToolchainSettings& settings;
  const BuildCache& cache;
  const Processor& processor;
  const Compiler& compiler;
  const BuildFlags& flags;
  const HeaderTree* headers = nullptr;  // none: sources include the system's alone
};

// The caller holds the CPU's lock.
[[nodiscard]] Result<BuildOutcome> build_in_jail(const BuildSetting& setting,
                                                 const BuildRequest& request, std::stop_token stop);

}  // namespace kernelpro
