// A worker's session in this process, for measurements that need no coordinator.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "common/base/paths.hpp"
#include "common/wire/orders_json.hpp"
#include "must.hpp"
#include "worker/session/session.hpp"

namespace kernelpro {

class OpenSession {
 public:
  OpenSession() : session_(session_settings()) {}

  // On the GPU.
  Opened open(const Task& task, double timing_seconds = 0, bool energy = false) {
    OpenOrder order;
    order.task = task;
    order.judging.timing_seconds = timing_seconds;
    order.energy = energy;
    return open(std::move(order));
  }

  Opened open(OpenOrder order) {
    order.judging.backend = Backend::cuda;
    return must(opened_from_json(ask(WorkerOp::open, to_json(order))));
  }

  Certificate evaluate(const Candidate& candidate,
                       const std::optional<Candidate>& incumbent = std::nullopt,
                       bool energy = false) {
    EvaluateOrder order;
    order.candidate = candidate;
    order.incumbent = incumbent;
    order.energy = energy;
    return must(evaluated_from_json(ask(WorkerOp::evaluate, to_json(order)))).certificate;
  }

  Diagnosed diagnose(const DiagnoseOrder& order) {
    return must(diagnosed_from_json(ask(WorkerOp::diagnose, to_json(order))));
  }

  static SessionSettings session_settings() {
    SessionSettings settings;
    settings.programs = program_directory();
    settings.share = must(share_directory());
    settings.cache = cache_directory();
    return settings;
  }

 private:
  nlohmann::json ask(WorkerOp op, const nlohmann::json& body) {
    WorkerRequest request;
    request.id = ++id_;
    request.op = op;
    request.body = std::make_shared<nlohmann::json>(body);
    return must(session_.handle(request, [](const WorkerEvent&) {}, {}));
  }

  Session session_;
  std::int64_t id_ = 0;
};

}  // namespace kernelpro
