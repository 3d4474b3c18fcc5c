// The workers of a laboratory, each at its place: shared out to jobs, replaced when they die. Those
// of a cluster are asked for when a job waits for one, and given back when none comes.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "common/model/workers.hpp"
#include "coordinator/dispatch/worker_client.hpp"

namespace kernelpro {

class Crew {
 public:
  // Starts a worker at a place, ready to judge; by several threads at once.
  using Starter = std::function<Result<WorkerClient>(const WorkerPlace&, std::stop_token)>;

  struct Seat {
    enum class State { absent, starting, free, busy, closed };  // closed: lost for good
    WorkerPlace place;
    State state = State::absent;
    std::optional<WorkerClient> worker;
    int lost = 0;  // how often in a row, without a result in between
    std::int64_t idle_since_ns = 0;
    std::jthread starting;  // the last member: it uses the others
  };

  // `starter` must outlive it.
  Crew(const std::vector<WorkerPlace>& places, Starter starter);
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;
  ~Crew();

  struct Started {
    WorkerPlace place;
    Result<WorkerClient*> worker;
  };
  // Starts side by side whoever is there from the beginning: the first, and all that are not of a
  // cluster. In the order of the places. They are the caller's until it calls `begin`.
  [[nodiscard]] std::vector<Started> start(std::stop_token stop);
  void begin();

  [[nodiscard]] int size() const { return static_cast<int>(seats_.size()); }
  [[nodiscard]] const WorkerPlace& place(int index) const;
  // Workers that were lost for good: for people, a line each.
  [[nodiscard]] std::vector<std::string> remarks() const;

  // Waits for one that is free; `reference`: for the first that is left. An error when none is left
  // or it was stopped.
  [[nodiscard]] Result<Seat*> take(bool reference, std::stop_token stop);
  void leave(Seat& seat, bool with_result);
  // Its worker died of `error`: another takes the seat, now or when there is work.
  void replace(Seat& seat, const Error& error, std::stop_token stop);

 private:
  using Lock = std::unique_lock<std::mutex>;

  [[nodiscard]] bool any_left() const;
  // Nothing: whoever may be taken is at work or not there.
  [[nodiscard]] Seat* free_seat(bool reference) const;
  // Whom to ask for because more jobs wait than workers are being started; nothing: nobody.
  [[nodiscard]] Seat* wanted_seat(bool reference) const;
  void ask_for(Seat& seat);
  void close(Seat& seat, const Error& why);
  void give_back_idle(const std::stop_token& stop);
  // One that has been idle long enough, and that no job is about to take; else when to look again,
  // if at all.
  [[nodiscard]] Seat* idle_seat(std::optional<std::int64_t>& next_ns) const;

  Starter starter_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  int waiting_ = 0;              // jobs that no worker has yet,
  int wanted_as_reference_ = 0;  // and those of them that only the first may do
  std::optional<Error> last_loss_;
  std::vector<std::string> remarks_;
  std::vector<std::unique_ptr<Seat>> seats_;
  std::jthread keeper_;  // the last member: it uses the others
};

// "the worker on device 0", "the worker of "ssh node""
[[nodiscard]] std::string name_of(const WorkerPlace& place);

}  // namespace kernelpro
