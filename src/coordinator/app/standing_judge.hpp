// A worker that stays: candidates of any task, one after the other. The task of the last one stays
// open, so that the next one of it is judged at once.
#pragma once

#include <optional>
#include <stop_token>
#include <string>

#include "common/base/result.hpp"
#include "common/model/orders.hpp"
#include "common/model/workers.hpp"
#include "coordinator/app/kept_worker.hpp"
#include "coordinator/app/progress.hpp"

namespace kernelpro {

// What is judged: texts, since whoever sent them has no files here.
struct StandingOrder {
  Task task;
  Backend backend = Backend::cpu;
  std::string name = "candidate";
  std::string source;     // or the name of one of the task's own implementations
  std::string incumbent;  // a source; empty: the baseline
  bool timed = true;
};

// The order's sources as candidates. A bad_input error says what is wrong with them.
[[nodiscard]] Result<EvaluateOrder> standing_candidates(const StandingOrder& order);

class StandingJudge {
 public:
  StandingJudge(WorkerPlace place, JudgingSettings judging)
      : place_(place), judging_(std::move(judging)), worker_(std::move(place)) {}

  // The machine it stands on; starts the worker where there is none.
  [[nodiscard]] Result<WorkerDescription> describe(std::stop_token stop);
  // After an error of kind `lost` or `timeout` the next call starts another worker. One that judged
  // on another machine than was described is not believed: lost.
  [[nodiscard]] Result<Evaluated> judge(const StandingOrder& order, const Watcher& watcher,
                                        std::stop_token stop);
  // On a GPU, by a profile.
  [[nodiscard]] Result<Diagnosed> diagnose(const StandingOrder& order, const Watcher& watcher,
                                           std::stop_token stop);

 private:
  [[nodiscard]] Result<WorkerClient*> opened(const StandingOrder& order, const Watcher& watcher,
                                             std::stop_token stop);
  [[nodiscard]] Status check_machine(const MachineRecord& judged_on) const;

  WorkerPlace place_;
  JudgingSettings judging_;
  KeptWorker worker_;
  std::optional<MachineRecord> described_;
};

}  // namespace kernelpro
