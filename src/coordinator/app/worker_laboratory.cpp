#include "coordinator/app/worker_laboratory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <set>

#include "coordinator/app/opening.hpp"

namespace kernelpro {

namespace {

constexpr int most_lost = 5;  // of one seat

std::string name_of(const WorkerPlace& place) {
  return place.here() ? fmt::format("the worker on device {}", place.device.value_or(0))
                      : "the worker of \"" + place.command + "\"";
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

Result<std::unique_ptr<WorkerLaboratory>> WorkerLaboratory::open(
    const std::vector<WorkerPlace>& places, OpenOrder order,
    std::vector<std::string> allow_precision, std::stop_token stop) {
  KP_TRY(check_places(places, order.judging));
  std::unique_ptr<WorkerLaboratory> laboratory(
      new WorkerLaboratory(std::move(order), std::move(allow_precision)));
  for (const WorkerPlace& place : places) {
    laboratory->seats_.push_back(std::make_unique<Seat>());
    laboratory->seats_.back()->place = place;
  }
  laboratory->builder_.place = places.front();
  KP_TRY(laboratory->start_all(std::move(stop)));
  return laboratory;
}

Status WorkerLaboratory::start_all(std::stop_token stop) {
  std::vector<std::future<Result<Opened>>> starting;
  starting.reserve(seats_.size());
  for (const std::unique_ptr<Seat>& seat : seats_) {
    starting.push_back(std::async(std::launch::async,
                                  [this, &seat, stop] { return seat_worker(*seat, false, stop); }));
  }
  std::vector<Result<Opened>> opened;
  opened.reserve(seats_.size());
  for (std::future<Result<Opened>>& one : starting) {
    opened.push_back(one.get());
  }
  for (std::size_t i = 0; i < opened.size(); ++i) {
    if (!opened[i]) {
      const Error& error = opened[i].error();
      return seats_.size() == 1 ? error
                                : make_error(error.kind, error.text(), name_of(seats_[i]->place));
    }
    if (opened[i]->ceilings.machine != opened[0]->ceilings.machine) {
      return make_error(ErrorKind::bad_input,
                        fmt::format("the workers stand on different devices ({} and {}): what is "
                                    "faster on one may be slower on the other",
                                    opened[0]->ceilings.machine, opened[i]->ceilings.machine),
                        "--workers");
    }
  }
  KP_LET(machine_, seats_.front()->worker->describe(stop));
  return {};
}

Result<Opened> WorkerLaboratory::seat_worker(Seat& seat, bool build_only,
                                             std::stop_token stop) const {
  seat.worker.reset();
  KP_LET(WorkerClient started, WorkerClient::start(seat.place, stop));
  seat.worker.emplace(std::move(started));
  OpenOrder order = order_;
  order.judging = judging_at(seat.place, order_.judging);
  order.build_only = build_only;
  return open_task(*seat.worker, order, stop);
}

std::vector<std::string> WorkerLaboratory::remarks() const {
  const std::lock_guard lock(mutex_);
  return remarks_;
}

bool WorkerLaboratory::times_here() const {
  return !traits_of(order_.judging.backend).gpu &&
         std::any_of(seats_.begin(), seats_.end(),
                     [](const std::unique_ptr<Seat>& seat) { return seat->place.here(); });
}

Result<WorkerLaboratory::Seat*> WorkerLaboratory::take_seat(std::stop_token stop) {
  std::unique_lock lock(mutex_);
  Seat* free = nullptr;
  const auto found = [this, &free] {
    bool any = false;
    for (const std::unique_ptr<Seat>& seat : seats_) {
      any = any || !seat->closed;
      free = free == nullptr && !seat->closed && !seat->busy ? seat.get() : free;
    }
    return free != nullptr || !any;
  };
  if (!freed_.wait(lock, stop, found)) {
    return make_error(ErrorKind::interrupted, "interrupted");
  }
  if (free == nullptr) {
    return make_error(ErrorKind::lost, remarks_.empty() ? "no worker is left" : remarks_.back());
  }
  free->busy = true;
  return free;
}

void WorkerLaboratory::leave_seat(Seat& seat) {
  const std::lock_guard lock(mutex_);
  seat.busy = false;
  freed_.notify_all();
}

void WorkerLaboratory::close_seat(Seat& seat, const Error& why) {
  const std::lock_guard lock(mutex_);
  seat.closed = true;
  seat.worker.reset();
  remarks_.push_back(name_of(seat.place) + " is lost: " + why.text());
  freed_.notify_all();
}

Status WorkerLaboratory::recover(Seat& seat, const Error& error, bool build_only,
                                 std::stop_token stop) const {
  if (error.kind != ErrorKind::lost || ++seat.lost > most_lost || stop.stop_requested()) {
    return error;
  }
  const Result<Opened> opened = seat_worker(seat, build_only, stop);
  return opened ? Status() : Status(opened.error());
}

Result<std::vector<BuildSummary>> WorkerLaboratory::build_at(
    Seat& seat, const std::vector<Candidate>& candidates, bool build_only,
    std::stop_token stop) const {
  if (!seat.worker) {
    KP_TRY(seat_worker(seat, build_only, stop));
  }
  Result<std::vector<BuildSummary>> built = seat.worker->build(candidates, stop);
  if (!built) {
    KP_TRY(recover(seat, built.error(), build_only, stop));
    built = seat.worker->build(candidates, stop);
  }
  return built;
}

Result<std::vector<BuildSummary>> WorkerLaboratory::build(const std::vector<Candidate>& candidates,
                                                          std::stop_token stop) {
  if (seats_.size() == 1 && times_here()) {  // builds and timings take turns: one worker does both
    KP_LET(Seat * seat, take_seat(stop));
    Result<std::vector<BuildSummary>> built = build_at(*seat, candidates, false, stop);
    leave_seat(*seat);
    return built;
  }
  const std::vector<BuildSummary> unknown(candidates.size());
  if (builder_.closed) {
    return unknown;
  }
  Result<std::vector<BuildSummary>> built = build_at(builder_, candidates, true, stop);
  builder_.closed = !built && !stop.stop_requested();
  return builder_.closed ? unknown : built;  // whoever judges them builds them
}

Result<std::optional<Evaluated>> WorkerLaboratory::judge(const Job& job, std::stop_token stop) {
  constexpr int most_tries = 2;  // a job that takes a worker with it may be to blame
  const EvaluateOrder order = evaluate_order(job, allow_precision_);
  for (int tries = 1;; ++tries) {
    KP_LET(Seat * seat, take_seat(stop));
    Result<Evaluated> evaluated = seat->worker->evaluate(order, stop);
    const bool lost = !evaluated && evaluated.error().kind == ErrorKind::lost;
    const Status ready = evaluated ? Status() : recover(*seat, evaluated.error(), false, stop);
    if (lost && !ready && seats_.size() > 1 && !stop.stop_requested()) {
      close_seat(*seat, ready.error());
    } else {
      leave_seat(*seat);
      if (!ready) {
        return ready.error();
      }
    }
    if (evaluated) {
      return std::optional(std::move(*evaluated));
    }
    if (tries == most_tries) {
      return evaluated.error();
    }
  }
}

}  // namespace kernelpro
