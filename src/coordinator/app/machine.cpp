#include "coordinator/app/machine.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/wire/orders_json.hpp"
#include "coordinator/app/opening.hpp"
#include "coordinator/code/symbols.hpp"
#include "coordinator/dispatch/worker_client.hpp"

namespace kernelpro {

namespace {

Result<double> measured_noise(WorkerClient& worker, std::stop_token stop) {
  KP_LET(const Task task, load_named_task("axpy"));
  OpenOrder order;
  order.task = task;
  KP_LET(const Opened opened, worker.open(order, stop));
  double worst = 0;
  for (const OpenedShape& shape : opened.shapes) {
    worst = std::max(worst, shape.noise_floor);
  }
  return worst;
}

}  // namespace

Result<Ceilings> measure_ceilings(const CeilingsRequest& request, const Watcher& watcher,
                                  std::stop_token stop) {
  KP_LET(WorkerClient worker, WorkerClient::start());
  tell(watcher, Activity{"measuring ceilings"});
  return worker.ceilings({request.judging.backend, request.judging.device, request.refresh}, stop);
}

Result<MachineCheck> check_machine(const Watcher& watcher, std::stop_token stop) {
  KP_LET(WorkerClient worker, WorkerClient::start());
  tell(watcher, Activity{"looking for compilers"});
  KP_LET(WorkerDescription machine, worker.describe(stop));
  MachineCheck out;
  out.machine = std::move(machine);
  std::vector<Problem>& problems = out.machine.problems;
  if (Result<Python> python = python_with_torch()) {
    out.torch = std::move(*python);
  } else {
    problems.push_back({"no PyTorch, which tasks made from KernelBench problems need",
                        python.error().text(), false});
  }
  if (!code::find_ctags()) {
    problems.push_back({"no universal-ctags, by which `kernelpro code` finds symbols",
                        "apt-get install universal-ctags", false});
  }
  if (std::ranges::any_of(problems, &Problem::fatal)) {
    return out;
  }
  tell(watcher, Activity{"measuring ceilings and the noise floor"});
  const Result<double> noise = measured_noise(worker, stop);
  if (noise) {
    out.noise_floor = *noise;
  } else if (noise.error().kind == ErrorKind::interrupted) {
    return noise.error();
  } else {
    problems.push_back({"the noise floor could not be measured: " + noise.error().text(),
                        "mend that and run doctor again", true});
  }
  return out;
}

nlohmann::json to_json(const MachineCheck& check) {
  nlohmann::json json = to_json(check.machine);
  json["noise_floor"] = check.noise_floor ? nlohmann::json(*check.noise_floor) : nlohmann::json();
  return json;
}

}  // namespace kernelpro
