// A worker's session in this process, for measurements that need no coordinator.
#pragma once

#include <optional>

#include "common/base/paths.hpp"
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
    return must(session_.open(order, {}));
  }

  Certificate evaluate(const Candidate& candidate,
                       const std::optional<Candidate>& incumbent = std::nullopt,
                       bool energy = false) {
    EvaluateOrder order;
    order.candidate = candidate;
    order.incumbent = incumbent;
    order.energy = energy;
    return must(session_.evaluate(order, {}, {})).certificate;
  }

  Diagnosed diagnose(const DiagnoseOrder& order) {
    return must(session_.diagnose(order, [](const std::string&) {}, {}, {}));
  }

  static SessionSettings session_settings() {
    SessionSettings settings;
    settings.programs = program_directory();
    settings.share = must(share_directory());
    settings.cache = cache_directory();
    return settings;
  }

 private:
  Session session_;
};

}  // namespace kernelpro
