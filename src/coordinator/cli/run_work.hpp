// One run, worked on: here, or by bundles that somebody carries to a worker.
#pragma once

#include <filesystem>
#include <stop_token>

#include "common/base/result.hpp"
#include "coordinator/cli/live_view.hpp"
#include "coordinator/loop/replay.hpp"
#include "coordinator/store/store.hpp"

namespace kernelpro {

// A run that this process may write to.
struct OpenRun {
  Store store;
  Run run;
  RunLock lock;
  LoopHistory history;
};

// Works until the run ends, is stopped or has to wait; what there is to tell is in the store by
// then, except the run's own row.
[[nodiscard]] Status work_on(OpenRun& open, LiveView& view, std::stop_token stop);

}  // namespace kernelpro
