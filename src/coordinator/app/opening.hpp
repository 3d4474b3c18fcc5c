// From what the user named to a task opened in a worker.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/orders.hpp"
#include "coordinator/dispatch/worker_client.hpp"
#include "coordinator/loop/partners.hpp"

namespace kernelpro {

// A task by name, folder or task.toml.
[[nodiscard]] Result<Task> load_named_task(const std::string& name);

// How a worker at that place judges: on the device that the place names, if it names one.
[[nodiscard]] JudgingSettings judging_at(const WorkerPlace& place, JudgingSettings judging);

// What a worker is asked for a job, whoever carries it there.
[[nodiscard]] EvaluateOrder evaluate_order(const Job& job,
                                           const std::vector<std::string>& allow_precision);

// An error when a machine lacks what judging needs, as `doctor` would say there.
[[nodiscard]] Status refuse_unfit(const WorkerDescription& machine, const JudgingSettings& judging,
                                  const std::string& where);

// An opened task, or why it cannot be used: the machine or a lint error refuses it.
[[nodiscard]] Result<Opened> open_task(WorkerClient& worker, const OpenOrder& order,
                                       std::stop_token stop);

// An error when the lint of an opened task says that it cannot tell right from wrong.
[[nodiscard]] Status refuse_unfit(const Opened& opened, const Task& task);

// Whether the task has a baseline or comparator of this name.
[[nodiscard]] bool is_implementation(const Task& task, const std::string& name);

// "naive, openblas": the names that is_implementation knows.
[[nodiscard]] std::string implementation_names(const Task& task);

}  // namespace kernelpro
