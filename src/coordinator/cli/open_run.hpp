// A run, begun or taken up.
#pragma once

#include <stop_token>

#include "common/base/result.hpp"
#include "coordinator/cli/options.hpp"
#include "coordinator/loop/replay.hpp"
#include "coordinator/store/store.hpp"

namespace kernelpro {

// A run that this process may write to.
struct OpenRun {
  Store store;
  Run run;
  RunLock lock;
  LoopHistory history;
  bool larger_budget = false;  // than it had, of a run that is taken up
};

// A new run of `options.task`. Everything that can be wrong with its settings is said before it is
// made.
[[nodiscard]] Result<OpenRun> new_run(const Options& options, std::stop_token stop);

// The run `options.run`, with the budgets that the options change.
[[nodiscard]] Result<OpenRun> old_run(const Options& options);

}  // namespace kernelpro
