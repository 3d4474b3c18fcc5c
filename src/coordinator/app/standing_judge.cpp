#include "coordinator/app/standing_judge.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "common/wire/json.hpp"
#include "coordinator/app/candidate_file.hpp"
#include "coordinator/app/header_folders.hpp"
#include "coordinator/app/opening.hpp"

namespace kernelpro {

Result<EvaluateOrder> standing_candidates(const StandingOrder& order) {
  EvaluateOrder out;
  out.timed = order.timed;
  if (!order.incumbent.empty()) {
    KP_LET(out.incumbent,
           candidate_of_text("incumbent", order.incumbent, order.task, order.backend));
  }
  if (is_implementation(order.task, order.source)) {
    out.implementation = order.source;
    return out;
  }
  KP_LET(out.candidate, candidate_of_text(order.name, order.source, order.task, order.backend));
  return out;
}

Result<WorkerClient*> StandingJudge::opened(const StandingOrder& order, const Watcher& watcher,
                                            std::stop_token stop) {
  JudgingSettings judging = judging_at(place_, judging_);
  judging.backend = order.backend;
  KP_LET(const OpenOrder opening,
         with_headers({.task = order.task, .judging = judging, .timed = order.timed}));
  if (!worker_.has_open(opening)) {
    tell(watcher, Activity{order.task.name + ": opening"});
  }
  return worker_.open(opening, stop);
}

// A worker that was started again may stand elsewhere, behind a name that several machines share.
Status StandingJudge::check_machine(const MachineRecord& judged_on) const {
  if (!described_) {
    return {};
  }
  const auto host = [](const MachineRecord& machine) {
    return fmt::format("{}, {} cores, {}, Linux {}", machine.processor, machine.cores,
                       machine.architecture, machine.kernel);
  };
  const auto is_known = [this](const GpuRecord& gpu) {
    return std::ranges::any_of(described_->gpus, [&gpu](const GpuRecord& one) {
      return one.name == gpu.name && one.driver == gpu.driver;
    });
  };
  if (host(judged_on) == host(*described_) && std::ranges::all_of(judged_on.gpus, is_known)) {
    return {};
  }
  return make_error(ErrorKind::lost,
                    fmt::format("it judged on another machine than it described: "
                                "{}, not {}",
                                host(judged_on), host(*described_)),
                    "worker");
}

Result<WorkerDescription> StandingJudge::describe(std::stop_token stop) {
  KP_LET(WorkerClient * worker, worker_.start(stop));
  Result<WorkerDescription> machine = worker->describe(stop);
  if (!machine) {
    worker_.let_go(machine.error());
    return machine;
  }
  described_ = machine->machine;
  return machine;
}

Result<Evaluated> StandingJudge::judge(const StandingOrder& order, const Watcher& watcher,
                                       std::stop_token stop) {
  KP_LET(const EvaluateOrder wanted, standing_candidates(order));
  KP_LET(WorkerClient * worker, opened(order, watcher, stop));
  worker->on_event([&](const WorkerEvent& event) {
    tell(watcher, Activity{order.task.name + ": " + event.text});
  });
  Result<Evaluated> done = worker->evaluate(wanted, stop);
  worker->on_event({});
  const Status same = done ? check_machine(done->certificate.machine) : Status(done.error());
  if (!same) {
    worker_.let_go(same.error());
    return same.error();
  }
  return done;
}

Result<Diagnosed> StandingJudge::diagnose(const StandingOrder& order, const Watcher& watcher,
                                          std::stop_token stop) {
  KP_LET(const EvaluateOrder wanted, standing_candidates(order));
  KP_LET(WorkerClient * worker, opened(order, watcher, stop));
  DiagnoseOrder profile;
  profile.kind = DiagnoseKind::candidate;
  profile.candidate = wanted.candidate;
  profile.implementation = wanted.implementation;
  profile.device = judging_at(place_, judging_).device;
  Result<Diagnosed> done = worker->diagnose(profile, stop);
  if (!done) {
    worker_.let_go(done.error());
  }
  return done;
}

}  // namespace kernelpro
