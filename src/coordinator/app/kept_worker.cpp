#include "coordinator/app/kept_worker.hpp"

#include <nlohmann/json.hpp>

#include "common/base/hash.hpp"
#include "common/wire/orders_json.hpp"
#include "coordinator/app/opening.hpp"

namespace kernelpro {

namespace {

std::string hash_of(const OpenOrder& order) {
  return sha256(to_json(order).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

}  // namespace

Result<WorkerClient*> KeptWorker::start(std::stop_token stop) {
  if (!worker_) {
    open_.clear();
    KP_LET(WorkerClient started, WorkerClient::start(place_, stop));
    worker_.emplace(std::move(started));
  }
  return &*worker_;
}

bool KeptWorker::has_open(const OpenOrder& order) const {
  return worker_ && open_ == hash_of(order);
}

Result<WorkerClient*> KeptWorker::open(const OpenOrder& order, std::stop_token stop) {
  KP_LET(WorkerClient * worker, start(stop));
  if (has_open(order)) {
    return worker;
  }
  const bool idle = !open_.empty();
  open_.clear();
  if (const Result<Opened> opened = open_task(*worker, order, stop); !opened) {
    let_go(opened.error());
    // One that had nothing to do may have died long ago.
    return idle && opened.error().kind == ErrorKind::lost ? open(order, stop)
                                                          : Result<WorkerClient*>(opened.error());
  }
  open_ = hash_of(order);
  return worker;
}

void KeptWorker::let_go(const Error& error) {
  if (error.kind == ErrorKind::lost || error.kind == ErrorKind::timeout ||
      error.kind == ErrorKind::interrupted) {
    worker_.reset();
  }
}

}  // namespace kernelpro
