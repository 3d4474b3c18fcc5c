#include "coordinator/app/worker_laboratory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "coordinator/app/device_kind.hpp"
#include "coordinator/app/opening.hpp"

namespace kernelpro {

namespace {

constexpr int most_builders_lost = 5;

// Who builds while others judge. None at a cluster: that would be one more node.
std::optional<WorkerPlace> building_place(const std::vector<WorkerPlace>& places) {
  return places.front().slurm ? std::nullopt : std::optional(places.front());
}

}  // namespace

Status check_places(const std::vector<WorkerPlace>& places, const JudgingSettings& judging) {
  const bool gpu = traits_of(judging.backend).gpu;
  std::set<int> devices;
  for (const WorkerPlace& place : places) {
    if (place.device && !gpu) {
      return make_error(ErrorKind::bad_input,
                        fmt::format("local:{} names a GPU, and the backend is {}", *place.device,
                                    name_of(judging.backend)),
                        "--workers");
    }
    if (place.here() && !devices.insert(place.device.value_or(judging.device)).second) {
      return make_error(ErrorKind::bad_input,
                        gpu ? fmt::format("two workers on device {} would wait for each other; "
                                          "local:N names another one",
                                          place.device.value_or(judging.device))
                            : "two workers on this processor would wait for each other; "
                              "cmd:COMMAND starts one elsewhere",
                        "--workers");
    }
  }
  return {};
}

WorkerLaboratory::WorkerLaboratory(const std::vector<WorkerPlace>& places, OpenOrder order,
                                   std::vector<std::string> allow_precision)
    : order_(std::move(order)),
      allow_precision_(std::move(allow_precision)),
      builds_at_(building_place(places)),
      crew_(places, [this](const WorkerPlace& place, std::stop_token stop) {
        return start_worker(place, false, std::move(stop));
      }) {}

Result<std::unique_ptr<WorkerLaboratory>> WorkerLaboratory::open(
    const std::vector<WorkerPlace>& places, OpenOrder order,
    std::vector<std::string> allow_precision, const std::optional<MachineRecord>& begun_on,
    std::stop_token stop) {
  KP_TRY(check_places(places, order.judging));
  std::unique_ptr<WorkerLaboratory> laboratory(
      new WorkerLaboratory(places, std::move(order), std::move(allow_precision)));
  KP_TRY(laboratory->start_all(begun_on, std::move(stop)));
  return laboratory;
}

Status WorkerLaboratory::start_all(const std::optional<MachineRecord>& begun_on,
                                   std::stop_token stop) {
  std::string kind;
  for (const Crew::Started& one : crew_.start(stop)) {
    if (!one.worker) {
      const Error& error = one.worker.error();
      return crew_.size() == 1 ? error : make_error(error.kind, error.text(), name_of(one.place));
    }
    // Who is not here has said it already.
    const bool known = !kind.empty() && !one.place.here();
    KP_LET(const WorkerDescription described,
           known ? Result<WorkerDescription>((*one.worker)->greeting())
                 : (*one.worker)->describe(stop));
    const std::string found = device_kind(described, judging_at(one.place, order_.judging));
    if (kind.empty()) {
      machine_ = described;
      kind = found;
    }
    KP_TRY(same_kind(kind, found));
  }
  kind_ = kind;
  crew_.begin();
  if (!begun_on) {
    return {};
  }
  const JudgingSettings judging = judging_at(crew_.place(0), order_.judging);
  const std::string before = device_kind(*begun_on, judging.backend, judging.device);
  const std::string now = device_kind(machine_.machine, judging.backend, judging.device);
  return before == now ? Status()
                       : make_error(ErrorKind::bad_input,
                                    fmt::format("the run began on {}, and this is {}: results of "
                                                "both do not belong in one run; start another here",
                                                before, now),
                                    "--workers");
}

Result<WorkerClient> WorkerLaboratory::start_worker(const WorkerPlace& place, bool build_only,
                                                    std::stop_token stop) const {
  KP_LET(WorkerClient worker, WorkerClient::start(place, stop));
  OpenOrder order = order_;
  order.judging = judging_at(place, order_.judging);
  order.build_only = build_only;
  if (!place.here() && !kind_.empty()) {  // one that comes later
    KP_TRY(same_kind(kind_, device_kind(worker.greeting(), order.judging)));
  }
  KP_TRY(open_task(worker, order, stop));
  return worker;
}

bool WorkerLaboratory::times_here() const {
  bool here = false;
  for (int i = 0; i < crew_.size(); ++i) {
    here = here || crew_.place(i).here();
  }
  return here && !traits_of(order_.judging.backend).gpu;
}

template <typename Answer>
Result<Answer> WorkerLaboratory::have_done(bool reference,
                                           const std::function<Result<Answer>(WorkerClient&)>& work,
                                           std::stop_token stop) {
  constexpr int most_tries = 2;       // work that takes a worker with it may be to blame,
  constexpr int most_taken_away = 5;  // not where the cluster took the node
  int tries = 0;
  int taken_away = 0;
  for (;;) {
    KP_LET(Crew::Seat * seat, crew_.take(reference, stop));
    Result<Answer> answer = work(*seat->worker);
    const bool lost = !answer && answer.error().kind == ErrorKind::lost;
    if (!lost || stop.stop_requested()) {
      crew_.leave(*seat, answer.ok());
      return answer;
    }
    ++(seat->worker->was_taken_away() ? taken_away : tries);
    crew_.replace(*seat, answer.error(), stop);
    if (tries == most_tries || taken_away == most_taken_away) {
      return answer;
    }
  }
}

Result<std::vector<BuildSummary>> WorkerLaboratory::build_ahead(
    const std::vector<Candidate>& candidates, std::stop_token stop) {
  for (;;) {
    if (!builder_) {
      KP_LET(WorkerClient started, start_worker(*builds_at_, true, stop));
      builder_.emplace(std::move(started));
    }
    Result<std::vector<BuildSummary>> built = builder_->build(candidates, stop);
    if (built || built.error().kind != ErrorKind::lost || stop.stop_requested() ||
        ++builders_lost_ > most_builders_lost) {
      return built;
    }
    builder_.reset();
  }
}

Result<std::vector<BuildSummary>> WorkerLaboratory::build(const std::vector<Candidate>& candidates,
                                                          std::stop_token stop) {
  if (crew_.size() == 1 && (times_here() || !builds_at_)) {
    // Builds and timings take turns: one worker does both.
    return have_done<std::vector<BuildSummary>>(
        false, [&](WorkerClient& worker) { return worker.build(candidates, stop); }, stop);
  }
  const std::vector<BuildSummary> unknown(candidates.size());
  if (!builds_at_) {
    return unknown;  // whoever judges them builds them
  }
  Result<std::vector<BuildSummary>> built = build_ahead(candidates, stop);
  if (built || stop.stop_requested()) {
    return built;
  }
  builds_at_.reset();
  return unknown;
}

Result<std::optional<Evaluated>> WorkerLaboratory::judge(const Job& job, std::stop_token stop) {
  const EvaluateOrder order = evaluate_order(job, allow_precision_);
  KP_LET(
      Evaluated evaluated,
      have_done<Evaluated>(
          job.phase > 0, [&](WorkerClient& worker) { return worker.evaluate(order, stop); }, stop));
  return std::optional(std::move(evaluated));
}

}  // namespace kernelpro
