// What the worker's machine can do, and what it lacks.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <stop_token>
#include <string>

#include "common/base/python.hpp"
#include "common/base/result.hpp"
#include "common/model/orders.hpp"
#include "coordinator/app/progress.hpp"

namespace kernelpro {

struct CeilingsRequest {
  JudgingSettings judging;  // of it, backend and device
  bool refresh = false;     // measure again even when cached
};

[[nodiscard]] Result<Ceilings> measure_ceilings(const CeilingsRequest& request,
                                                const Watcher& watcher, std::stop_token stop);

struct MachineCheck {
  WorkerDescription machine;    // with what its problems are
  std::optional<Python> torch;  // a Python that has PyTorch
  // Two processes of one axpy against each other; none: nothing can be judged here.
  std::optional<double> noise_floor;
};

[[nodiscard]] Result<MachineCheck> check_machine(const Watcher& watcher, std::stop_token stop);
[[nodiscard]] nlohmann::json to_json(const MachineCheck& check);

}  // namespace kernelpro
