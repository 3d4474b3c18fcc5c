// One run, worked on: here, or by bundles that somebody carries to a worker.
#pragma once

#include <stop_token>

#include "common/base/result.hpp"
#include "coordinator/app/open_run.hpp"
#include "coordinator/app/progress.hpp"
#include "coordinator/loop/partners.hpp"
#include "coordinator/loop/replay.hpp"
#include "coordinator/propose/playbook.hpp"
#include "coordinator/store/store.hpp"

namespace kernelpro {

// What of the loop is to be done: all of it, or only the finalists measured again.
enum class LoopPart { all, finalists };

// Works until the run ends, is stopped or has to wait; what there is to tell is in the store by
// then, except the run's own row.
// `instead`, if given, takes the place of the author that the run is set to.
[[nodiscard]] Status work_on(OpenRun& open, const Watcher& watcher, LoopPart part,
                             std::stop_token stop, Author* instead = nullptr);

// The same, and the run's own row is in the store as well.
[[nodiscard]] Status work_and_save(OpenRun& open, LoopPart part, const Watcher& watcher,
                                   std::stop_token stop);

// The moves that a run may make, and those that its models are told of.
[[nodiscard]] Result<Playbook> load_playbook(const Run& run,
                                             const std::vector<CompilerDescription>& compilers);

}  // namespace kernelpro
