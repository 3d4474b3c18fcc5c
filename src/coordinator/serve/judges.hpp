// Those who judge: a thread and a worker for each place. They take work from the queue, and put one
// result there for each.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "common/model/judging.hpp"
#include "common/model/workers.hpp"
#include "coordinator/serve/queue.hpp"

namespace kernelpro::serve {

struct JudgeCounts {
  std::map<std::string, std::int64_t> outcomes;  // of what was judged, by their names
  std::int64_t stored = 0;                       // answered by an equal one's result
  std::int64_t attempts = 0;
  std::int64_t failed_attempts = 0;
  double judging_seconds = 0;
  int busy = 0;
};

// What happened to a piece of work: its id and "judging", "progress" or "done".
struct WorkNews {
  std::string id;
  std::string what;
  std::string text;  // of its progress
};

struct JudgesSettings {
  std::vector<WorkerPlace> places = {WorkerPlace()};
  JudgingSettings judging;
};

class Judges {
 public:
  // `tell` is called by the threads.
  Judges(Queue& queue, JudgesSettings settings, std::function<void(WorkNews)> tell);
  Judges(const Judges&) = delete;
  Judges& operator=(const Judges&) = delete;
  // What is under way is given back to the queue.
  ~Judges();

  // There is work.
  void wake();
  // Nothing more is taken from the queue; what is under way is finished.
  void drain();
  // Nothing is under way, and nothing will be.
  [[nodiscard]] bool drained() const;

  [[nodiscard]] JudgeCounts counts() const;
  // Empty: not known yet.
  [[nodiscard]] std::string machine() const;
  [[nodiscard]] std::size_t count() const { return settings_.places.size(); }

 private:
  class Seat;

  void work(const WorkerPlace& place, const std::stop_token& stop);
  void pause(std::chrono::seconds length, const std::stop_token& stop);
  [[nodiscard]] bool wait_for_work(std::uint64_t& seen, const std::stop_token& stop);
  void work_through(Seat& seat, const std::stop_token& stop);
  [[nodiscard]] bool is_draining() const;
  // False: it is not the machine that the others stand on.
  bool take_machine(const std::string& machine);
  void count_outcome(const std::string& outcome, std::int64_t ns);

  Queue& queue_;
  JudgesSettings settings_;
  std::function<void(WorkNews)> tell_;
  mutable std::mutex mutex_;
  std::condition_variable_any woken_;
  std::uint64_t wakes_ = 0;
  bool draining_ = false;
  JudgeCounts counts_;
  std::string machine_;
  std::vector<std::jthread> threads_;  // the last: they end before what they use
};

}  // namespace kernelpro::serve
