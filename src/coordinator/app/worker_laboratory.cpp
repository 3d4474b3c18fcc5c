#include "coordinator/app/worker_laboratory.hpp"

namespace kernelpro {

namespace {

constexpr int most_lost_workers = 5;

}  // namespace

Status WorkerLaboratory::recover(const Error& error, std::stop_token stop) {
  if (error.kind != ErrorKind::lost || ++lost_ > most_lost_workers || stop.stop_requested()) {
    return error;
  }
  worker_.reset();
  KP_LET(WorkerClient started, WorkerClient::start());
  worker_.emplace(std::move(started));
  const Result<Opened> opened = worker_->open(order_, stop);
  return opened ? Status() : Status(opened.error());
}

Result<std::vector<BuildSummary>> WorkerLaboratory::build(const std::vector<Candidate>& candidates,
                                                          std::stop_token stop) {
  const std::lock_guard lock(mutex_);
  Result<std::vector<BuildSummary>> built = worker_->build(candidates, stop);
  if (!built) {
    KP_TRY(recover(built.error(), stop));
    built = worker_->build(candidates, stop);
  }
  return built;
}

Result<std::optional<Evaluated>> WorkerLaboratory::judge(const Job& job, std::stop_token stop) {
  EvaluateOrder order;
  order.candidate = job.candidate;
  order.incumbent = job.incumbent;
  order.allow_precision = allow_precision_;
  order.energy = job.energy;
  order.diagnose = job.diagnose;
  const std::lock_guard lock(mutex_);
  Result<Evaluated> evaluated = worker_->evaluate(order, stop);
  if (!evaluated) {
    KP_TRY(recover(evaluated.error(), stop));
    evaluated = worker_->evaluate(order, stop);
  }
  if (!evaluated) {
    return evaluated.error();
  }
  return std::optional(std::move(*evaluated));
}

}  // namespace kernelpro
