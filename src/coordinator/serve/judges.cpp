#include "coordinator/serve/judges.hpp"

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "common/base/clock.hpp"
#include "common/wire/json.hpp"
#include "coordinator/app/diagnose.hpp"
#include "coordinator/serve/result.hpp"
#include "coordinator/serve/wish.hpp"

namespace kernelpro::serve {

namespace {

using nlohmann::json;

// Of one task ahead of older work of others: opening a task takes longer than many a judgment.
constexpr int most_in_a_row = 16;

std::string text_of(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

// Worth another attempt: the worker died, was slow, or somebody held the device.
bool may_pass(const Error& error) {
  return error.kind == ErrorKind::lost || error.kind == ErrorKind::timeout ||
         error.kind == ErrorKind::busy;
}

bool is_judged(const json& result) {
  return result.contains("verdict") && result["verdict"].value("outcome", "") != "not_judged";
}

}  // namespace

// One thread's worker, and what it does with a piece of work.
class Judges::Seat {
 public:
  Seat(Judges& judges, const WorkerPlace& place, std::stop_token stop)
      : judges_(judges), judge_(place, judges.settings_.judging), stop_(std::move(stop)) {}

  [[nodiscard]] Status begin() {
    KP_LET(const WorkerDescription description, judge_.describe(stop_));
    machine_ = machine_of(description);
    if (!judges_.take_machine(machine_)) {
      return make_error(ErrorKind::bad_input,
                        "this worker stands on another machine than the first: what is faster on "
                        "one may be slower on the other",
                        "--workers");
    }
    return {};
  }

  void work_on(const Work& work) {
    judges_.tell_({work.id, "judging", ""});
    if (const std::optional<Finish> finish = judged(work); finish) {
      if (keep(work.id, *finish)) {
        judges_.tell_({work.id, "done", ""});
      }
    } else {
      (void)judges_.queue_.give_back(work.id);
    }
  }

 private:
  // Until it is kept: a disk that is full may have room later, and what was judged is not lost for
  // it. False: a stop was asked for, and the next start judges it again.
  bool keep(const std::string& id, const Finish& finish) {
    bool troubled = false;
    for (;;) {
      const Result<bool> kept = judges_.queue_.finish(id, finish);
      if (kept || stop_.stop_requested()) {
        if (troubled && kept) {
          judges_.tell_({"", "idle", ""});
        }
        return kept.ok();
      }
      troubled = true;
      judges_.tell_({"", "unready", kept.error().text()});
      judges_.pause(std::chrono::seconds(1), stop_);
    }
  }

  // Nothing: it was interrupted.
  std::optional<Finish> judged(const Work& work) {
    if (work.attempts > most_attempts) {
      return Finish{text_of(unjudged_result("given up: the service ended each time it was begun")),
                    "", ""};
    }
    if (std::optional<Finish> stored = find_stored(work); stored) {
      return stored;
    }
    const Result<json> wish = parse_json(work.what.request);
    if (wish && work.what.kind == "diagnose_program") {
      return diagnosed_program(work, *wish);
    }
    Result<StandingOrder> order =
        wish ? order_of(*wish, tasks_) : Result<StandingOrder>(wish.error());
    if (!order) {
      return Finish{text_of(unjudged_result(order.error().text())), "", ""};
    }
    // The task may have changed since it was accepted.
    const std::string content = content_of(work.what.kind, *order, tasks_);
    const std::string machine = content == work.what.content ? machine_ : "";
    return tried(work, *order, machine);
  }

  std::optional<Finish> tried(const Work& work, const StandingOrder& order,
                              const std::string& machine) {
    Error last;
    for (int attempt = work.attempts; attempt <= most_attempts; ++attempt) {
      Result<Finish> done = work.what.kind == "diagnose" ? diagnose(work, order, machine)
                                                         : evaluate(work, order, machine);
      if (done) {
        return *done;
      }
      last = done.error();
      if (stop_.stop_requested() || last.kind == ErrorKind::interrupted) {
        return std::nullopt;
      }
      judges_.count_outcome("", 0);
      if (!may_pass(last) || !judges_.queue_.begin_again(work.id)) {
        break;
      }
    }
    judges_.count_outcome("not_judged", 0);
    return Finish{text_of(unjudged_result(last.text())), "", ""};
  }

  std::optional<Finish> find_stored(const Work& work) {
    if (work.what.content.empty()) {
      return std::nullopt;
    }
    const auto id = judges_.queue_.find_equal(work.what.content, machine_);
    if (!id || !*id) {
      return std::nullopt;
    }
    const auto standing = judges_.queue_.look(**id);
    const Result<json> result =
        standing && *standing ? parse_json((*standing)->result) : Result<json>(Error());
    if (!result) {
      return std::nullopt;
    }
    const std::lock_guard lock(judges_.mutex_);
    ++judges_.counts_.stored;
    return Finish{text_of(stored_result(*result, **id)), "", ""};
  }

  Watcher watcher_of(const Work& work) {
    return [this, id = work.id](const Event& event) {
      if (const auto* const activity = std::get_if<Activity>(&event)) {
        judges_.tell_({id, "progress", activity->text});
      }
    };
  }

  Result<Finish> evaluate(const Work& work, const StandingOrder& order,
                          const std::string& machine) {
    const std::int64_t begun = now_ns();
    KP_LET(const Evaluated done, judge_.judge(order, watcher_of(work), stop_));
    const json result = evaluation_result(done, order.timed);
    judges_.count_outcome(std::string(name_of(done.certificate.verdict.outcome)), now_ns() - begun);
    return Finish{text_of(result), text_of(to_json(done.certificate)),
                  is_judged(result) ? machine : ""};
  }

  Result<Finish> diagnose(const Work& work, const StandingOrder& order,
                          const std::string& machine) {
    const std::int64_t begun = now_ns();
    json result;
    if (traits_of(order.backend).gpu) {
      KP_LET(const Diagnosed done, judge_.diagnose(order, watcher_of(work), stop_));
      result = diagnosis_result(done);
    } else {
      KP_LET(const Evaluated done, judge_.judge(order, watcher_of(work), stop_));
      result = diagnosis_result(done, order.backend);
    }
    judges_.count_outcome("diagnosed", now_ns() - begun);
    const bool whole = !result.contains("verdict") || is_judged(result);
    return Finish{text_of(result), "", whole ? machine : ""};
  }

  std::optional<Finish> diagnosed_program(const Work& work, const json& wish) {
    DiagnoseRequest request;
    request.program = wish["program"].get<std::vector<std::string>>();
    request.judging = judges_.settings_.judging;
    request.judging.backend = Backend::cuda;
    const Result<DiagnosisOutcome> done = kernelpro::diagnose(request, watcher_of(work), stop_);
    if (!done && stop_.stop_requested()) {
      return std::nullopt;
    }
    return Finish{
        text_of(done ? diagnosis_result(done->diagnosed) : unjudged_result(done.error().text())),
        "", ""};
  }

  Judges& judges_;
  StandingJudge judge_;
  std::stop_token stop_;
  Register tasks_;
  std::string machine_;
};

Judges::Judges(Queue& queue, JudgesSettings settings, std::function<void(WorkNews)> tell)
    : queue_(queue), settings_(std::move(settings)), tell_(std::move(tell)) {
  for (const WorkerPlace& place : settings_.places) {
    threads_.emplace_back([this, place](const std::stop_token& stop) { work(place, stop); });
  }
}

Judges::~Judges() {
  for (std::jthread& thread : threads_) {
    thread.request_stop();
  }
}

void Judges::wake() {
  const std::lock_guard lock(mutex_);
  ++wakes_;
  woken_.notify_all();
}

void Judges::drain() {
  const std::lock_guard lock(mutex_);
  draining_ = true;
  woken_.notify_all();
}

bool Judges::is_draining() const {
  const std::lock_guard lock(mutex_);
  return draining_;
}

bool Judges::drained() const {
  const std::lock_guard lock(mutex_);
  return draining_ && counts_.busy == 0;
}

JudgeCounts Judges::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

std::string Judges::machine() const {
  const std::lock_guard lock(mutex_);
  return machine_;
}

bool Judges::take_machine(const std::string& machine) {
  const std::lock_guard lock(mutex_);
  if (machine_.empty()) {
    machine_ = machine;
  }
  return machine_ == machine;
}

// An attempt, and what came of it; empty: nothing did.
void Judges::count_outcome(const std::string& outcome, std::int64_t ns) {
  const std::lock_guard lock(mutex_);
  ++counts_.attempts;
  counts_.judging_seconds += static_cast<double>(ns) * 1e-9;
  if (outcome.empty()) {
    ++counts_.failed_attempts;
  } else {
    ++counts_.outcomes[outcome];
  }
}

// Before something that failed is tried again.
void Judges::pause(std::chrono::seconds length, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  woken_.wait_for(lock, stop, length, [] { return false; });
}

// False: it is time to go.
bool Judges::wait_for_work(std::uint64_t& seen, const std::stop_token& stop) {
  constexpr auto pause = std::chrono::seconds(5);
  std::unique_lock lock(mutex_);
  woken_.wait_for(lock, stop, pause, [&] { return wakes_ != seen || draining_; });
  if (draining_ || stop.stop_requested()) {
    return false;
  }
  seen = wakes_;
  ++counts_.busy;
  return true;
}

// Until there is none.
void Judges::work_through(Seat& seat, const std::stop_token& stop) {
  std::string group;
  int in_a_row = 0;
  while (!stop.stop_requested() && !is_draining()) {
    const auto work = queue_.take(in_a_row < most_in_a_row ? group : "");
    if (!work || !*work) {
      break;
    }
    in_a_row = (*work)->what.group == group ? in_a_row + 1 : 0;
    group = (*work)->what.group;
    seat.work_on(**work);
  }
  const std::lock_guard lock(mutex_);
  --counts_.busy;
}

void Judges::work(const WorkerPlace& place, const std::stop_token& stop) {
  Seat seat(*this, place, stop);
  for (Status ready = seat.begin(); !ready; ready = seat.begin()) {
    if (stop.stop_requested()) {
      return;
    }
    tell_({"", "unready", ready.error().text()});
    pause(std::chrono::seconds(5), stop);
  }
  std::uint64_t seen = 0;
  while (wait_for_work(seen, stop)) {
    work_through(seat, stop);
    tell_({"", "idle", ""});
  }
}

}  // namespace kernelpro::serve
