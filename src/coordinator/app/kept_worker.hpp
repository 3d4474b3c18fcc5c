// A worker that stays, with the task of its last order open: the next order of that task is judged
// at once.
#pragma once

#include <optional>
#include <stop_token>
#include <string>

#include "common/base/result.hpp"
#include "common/model/orders.hpp"
#include "common/model/workers.hpp"
#include "coordinator/dispatch/worker_client.hpp"

namespace kernelpro {

class KeptWorker {
 public:
  explicit KeptWorker(WorkerPlace place = {}) : place_(std::move(place)) {}

  // The one there is, else another is started. It stays ours.
  [[nodiscard]] Result<WorkerClient*> start(std::stop_token stop);
  // Nothing is to be measured anew for that order.
  [[nodiscard]] bool has_open(const OpenOrder& order) const;
  [[nodiscard]] Result<WorkerClient*> open(const OpenOrder& order, std::stop_token stop);
  // After an error that leaves a worker dead, late or in the middle of something, the next order
  // gets another.
  void let_go(const Error& error);

 private:
  WorkerPlace place_;
  std::optional<WorkerClient> worker_;
  std::string open_;  // hash of the order that is
};

}  // namespace kernelpro
