// The loop's laboratory: a worker with the task open, started again when it is lost.
#pragma once

#include <mutex>
#include <optional>

#include "coordinator/dispatch/worker_client.hpp"
#include "coordinator/loop/partners.hpp"

namespace kernelpro {

class WorkerLaboratory : public Laboratory {
 public:
  // `worker` has `order` open already.
  WorkerLaboratory(WorkerClient worker, OpenOrder order, std::vector<std::string> allow_precision)
      : worker_(std::move(worker)),
        order_(std::move(order)),
        allow_precision_(std::move(allow_precision)) {}

  [[nodiscard]] bool times_here() const override { return !traits_of(order_.judging.backend).gpu; }
  [[nodiscard]] Result<std::vector<BuildSummary>> build(const std::vector<Candidate>& candidates,
                                                        std::stop_token stop) override;
  [[nodiscard]] Result<std::optional<Evaluated>> judge(const Job& job,
                                                       std::stop_token stop) override;

 private:
  // Starts another worker after `error`; an error when that was not the worker's death, or there
  // were too many of them.
  [[nodiscard]] Status recover(const Error& error, std::stop_token stop);

  std::mutex mutex_;  // a worker does one thing at a time
  std::optional<WorkerClient> worker_;
  OpenOrder order_;
  std::vector<std::string> allow_precision_;
  int lost_ = 0;
};

}  // namespace kernelpro
