// The loop's laboratory: a worker at each place with the task open. Whoever is free gets the next
// job; one that is lost gives its job back and is started again.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "common/model/workers.hpp"
#include "coordinator/dispatch/worker_client.hpp"
#include "coordinator/loop/partners.hpp"

namespace kernelpro {

// An error where these places cannot judge side by side on that backend: they would wait for one
// another, or name a device that there is none of.
[[nodiscard]] Status check_places(const std::vector<WorkerPlace>& places,
                                  const JudgingSettings& judging);

class WorkerLaboratory : public Laboratory {
 public:
  // Starts the workers side by side. An error where one cannot start or open the task, or where
  // their devices differ: what is faster on one may be slower on the other.
  [[nodiscard]] static Result<std::unique_ptr<WorkerLaboratory>> open(
      const std::vector<WorkerPlace>& places, OpenOrder order,
      std::vector<std::string> allow_precision, std::stop_token stop);

  // The machine of the first worker.
  [[nodiscard]] const WorkerDescription& machine() const { return machine_; }
  // Workers that were lost for good: for people, a line each.
  [[nodiscard]] std::vector<std::string> remarks() const;

  [[nodiscard]] int workers() const override { return static_cast<int>(seats_.size()); }
  [[nodiscard]] bool times_here() const override;
  [[nodiscard]] Result<std::vector<BuildSummary>> build(const std::vector<Candidate>& candidates,
                                                        std::stop_token stop) override;
  [[nodiscard]] Result<std::optional<Evaluated>> judge(const Job& job,
                                                       std::stop_token stop) override;

 private:
  struct Seat {
    WorkerPlace place;
    std::optional<WorkerClient> worker;
    bool busy = false;
    bool closed = false;  // lost for good
    int lost = 0;
  };

  WorkerLaboratory(OpenOrder order, std::vector<std::string> allow_precision)
      : order_(std::move(order)), allow_precision_(std::move(allow_precision)) {}

  // Starts its worker and opens the task, for builds alone if so.
  [[nodiscard]] Result<Opened> seat_worker(Seat& seat, bool build_only, std::stop_token stop) const;
  [[nodiscard]] Status start_all(std::stop_token stop);

  // Waits for one that is free. An error when there is none any more, or it was stopped.
  [[nodiscard]] Result<Seat*> take_seat(std::stop_token stop);
  void leave_seat(Seat& seat);
  // Starts another worker there after `error`. An error when that was not the worker's death, there
  // were too many of them, or it cannot be started again.
  [[nodiscard]] Status recover(Seat& seat, const Error& error, bool build_only,
                               std::stop_token stop) const;
  [[nodiscard]] Result<std::vector<BuildSummary>> build_at(Seat& seat,
                                                           const std::vector<Candidate>& candidates,
                                                           bool build_only,
                                                           std::stop_token stop) const;
  void close_seat(Seat& seat, const Error& why);

  OpenOrder order_;
  std::vector<std::string> allow_precision_;
  WorkerDescription machine_;
  mutable std::mutex mutex_;
  std::condition_variable_any freed_;
  std::vector<std::unique_ptr<Seat>> seats_;
  std::vector<std::string> remarks_;
  Seat builder_;  // builds while others judge; used by one thread
};

}  // namespace kernelpro
