#include "coordinator/app/crew.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <utility>

#include "common/base/clock.hpp"

namespace kernelpro {

namespace {

constexpr int most_lost = 5;  // of one seat, in a row

using State = Crew::Seat::State;

}  // namespace

std::string name_of(const WorkerPlace& place) {
  if (place.slurm) {
    return "the worker of " + text_of(place);
  }
  return place.here() ? fmt::format("the worker on device {}", place.device.value_or(0))
                      : "the worker of \"" + place.command + "\"";
}

Crew::Crew(const std::vector<WorkerPlace>& places, Starter starter) : starter_(std::move(starter)) {
  bool cluster = false;
  for (const WorkerPlace& place : places) {
    seats_.push_back(std::make_unique<Seat>());
    seats_.back()->place = place;
    cluster = cluster || place.slurm;
  }
  if (cluster) {
    keeper_ = std::jthread([this](const std::stop_token& stop) { give_back_idle(stop); });
  }
}

Crew::~Crew() {
  keeper_ = {};
  for (const std::unique_ptr<Seat>& seat : seats_) {
    seat->starting.request_stop();
  }
  for (const std::unique_ptr<Seat>& seat : seats_) {
    seat->starting = {};
  }
}

const WorkerPlace& Crew::place(int index) const {
  return seats_[static_cast<std::size_t>(index)]->place;
}

std::vector<Crew::Started> Crew::start(std::stop_token stop) {
  std::vector<Seat*> first;
  std::vector<std::future<Result<WorkerClient>>> starting;
  for (const std::unique_ptr<Seat>& seat : seats_) {
    if (!seat->place.slurm || seat == seats_.front()) {
      first.push_back(seat.get());
      starting.push_back(std::async(std::launch::async, [this, one = seat.get(), stop] {
        return starter_(one->place, stop);
      }));
    }
  }
  std::vector<Started> out;
  for (std::size_t i = 0; i < first.size(); ++i) {
    Result<WorkerClient> started = starting[i].get();
    const Lock lock(mutex_);
    if (started) {
      first[i]->worker.emplace(std::move(*started));
      first[i]->state = State::busy;
      out.push_back({first[i]->place, &*first[i]->worker});
    } else {
      out.push_back({first[i]->place, started.error()});
    }
  }
  return out;
}

void Crew::begin() {
  const Lock lock(mutex_);
  for (const std::unique_ptr<Seat>& seat : seats_) {
    seat->state = seat->worker ? State::free : State::absent;
    seat->idle_since_ns = now_ns();
  }
  changed_.notify_all();
}

std::vector<std::string> Crew::remarks() const {
  const Lock lock(mutex_);
  return remarks_;
}

bool Crew::any_left() const {
  return std::ranges::any_of(
      seats_, [](const std::unique_ptr<Seat>& seat) { return seat->state != State::closed; });
}

Crew::Seat* Crew::free_seat(bool reference) const {
  for (const std::unique_ptr<Seat>& seat : seats_) {
    if (seat->state == State::free) {
      return seat.get();
    }
    if (reference && seat->state != State::closed) {
      break;
    }
  }
  return nullptr;
}

Crew::Seat* Crew::wanted_seat(bool reference) const {
  const auto starting = std::ranges::count_if(
      seats_, [](const std::unique_ptr<Seat>& seat) { return seat->state == State::starting; });
  for (const std::unique_ptr<Seat>& seat : seats_) {
    if (seat->state == State::absent) {
      return reference || starting < waiting_ ? seat.get() : nullptr;
    }
    if (reference && seat->state != State::closed) {
      break;
    }
  }
  return nullptr;
}

Result<Crew::Seat*> Crew::take(bool reference, std::stop_token stop) {
  Lock lock(mutex_);
  ++waiting_;
  wanted_as_reference_ += reference ? 1 : 0;
  Seat* found = nullptr;
  bool stopped = false;
  while (found == nullptr && any_left() && !stopped) {
    if (Seat* const wanted = wanted_seat(reference)) {
      ask_for(*wanted);
    }
    stopped = !changed_.wait(lock, stop, [&] {
      found = free_seat(reference);
      return found != nullptr || wanted_seat(reference) != nullptr || !any_left();
    });
  }
  --waiting_;
  wanted_as_reference_ -= reference ? 1 : 0;
  if (found != nullptr) {
    found->state = State::busy;
    return found;
  }
  return stopped ? make_error(ErrorKind::interrupted, "interrupted")
                 : last_loss_.value_or(make_error(ErrorKind::lost, "no worker is left"));
}

void Crew::leave(Seat& seat, bool with_result) {
  const Lock lock(mutex_);
  seat.state = State::free;
  seat.lost = with_result ? 0 : seat.lost;
  seat.idle_since_ns = now_ns();
  changed_.notify_all();
}

void Crew::replace(Seat& seat, const Error& error, std::stop_token stop) {
  seat.worker.reset();
  if (++seat.lost > most_lost) {
    const Lock lock(mutex_);
    close(seat, error);
    return;
  }
  if (seat.place.slurm) {  // its next node may be long in coming
    const Lock lock(mutex_);
    seat.state = State::absent;
    changed_.notify_all();
    return;
  }
  Result<WorkerClient> started = starter_(seat.place, std::move(stop));
  if (started) {
    seat.worker.emplace(std::move(*started));
    leave(seat, false);
    return;
  }
  const Lock lock(mutex_);
  close(seat, started.error());
}

void Crew::ask_for(Seat& seat) {
  seat.state = State::starting;
  seat.starting = std::jthread([this, &seat](const std::stop_token& stop) {
    Result<WorkerClient> started = starter_(seat.place, stop);
    const Lock lock(mutex_);
    if (started) {
      seat.worker.emplace(std::move(*started));
      seat.state = State::free;
      seat.idle_since_ns = now_ns();
    } else if (stop.stop_requested() ||
               (started.error().kind == ErrorKind::lost && ++seat.lost <= most_lost)) {
      seat.state = State::absent;
    } else {
      close(seat, started.error());
    }
    changed_.notify_all();
  });
}

void Crew::close(Seat& seat, const Error& why) {
  seat.state = State::closed;
  const std::string remark = name_of(seat.place) + " is lost: " + why.text();
  remarks_.push_back(remark);
  last_loss_ = seats_.size() == 1 ? why : make_error(why.kind, remark);
  changed_.notify_all();
}

Crew::Seat* Crew::idle_seat(std::optional<std::int64_t>& next_ns) const {
  const bool any_wanted = waiting_ > wanted_as_reference_;
  bool wanted = any_wanted || wanted_as_reference_ > 0;  // the first that is left
  for (const std::unique_ptr<Seat>& seat : seats_) {
    const bool kept = wanted && seat->state != State::closed;
    wanted = kept ? any_wanted : wanted;
    if (kept || seat->state != State::free || !seat->place.slurm) {
      continue;
    }
    const std::int64_t end_ns =
        seat->idle_since_ns + seat->place.slurm->idle_seconds * 1'000'000'000;
    if (end_ns <= now_ns()) {
      return seat.get();
    }
    next_ns = std::min(next_ns.value_or(end_ns), end_ns);
  }
  return nullptr;
}

void Crew::give_back_idle(const std::stop_token& stop) {
  constexpr std::int64_t rest_ns = 3'600'000'000'000;
  Lock lock(mutex_);
  while (!stop.stop_requested()) {
    std::optional<std::int64_t> next_ns;
    Seat* const idle = idle_seat(next_ns);
    if (idle == nullptr) {
      const std::int64_t left_ns = next_ns.value_or(now_ns() + rest_ns) - now_ns();
      changed_.wait_for(lock, stop, std::chrono::nanoseconds(left_ns), [this, &next_ns] {
        std::optional<std::int64_t> now;
        return idle_seat(now) != nullptr || now != next_ns;
      });
      continue;
    }
    idle->state = State::absent;
    std::optional<WorkerClient> leaving = std::exchange(idle->worker, std::nullopt);
    lock.unlock();  // it takes a moment to leave
    leaving.reset();
    lock.lock();
  }
}

}  // namespace kernelpro
