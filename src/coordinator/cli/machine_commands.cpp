#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/base/python.hpp"
#include "common/wire/json.hpp"
#include "common/wire/orders_json.hpp"
#include "coordinator/cli/commands.hpp"
#include "coordinator/cli/opening.hpp"
#include "coordinator/cli/output.hpp"
#include "coordinator/cli/progress.hpp"
#include "coordinator/report/table.hpp"

namespace kernelpro {

namespace {

// The noise floor a user can expect: two processes of one axpy against each other.
Result<double> measured_noise(WorkerClient& worker, std::stop_token stop) {
  const Result<Task> task = load_named_task("axpy");
  if (!task) {
    return task.error();
  }
  OpenOrder order;
  order.task = *task;
  const Result<Opened> opened = worker.open(order, stop);
  if (!opened) {
    return opened.error();
  }
  double worst = 0;
  for (const OpenedShape& shape : opened->shapes) {
    worst = std::max(worst, shape.noise_floor);
  }
  return worst;
}

void look_for_torch(WorkerDescription& machine) {
  if (const Result<Python> python = python_with_torch(); !python) {
    machine.problems.push_back({"no PyTorch, which tasks made from KernelBench problems need",
                                python.error().text(), false});
  }
}

void print_doctor(const WorkerDescription& machine, const Result<double>& noise) {
  fmt::print("kernelpro {} on {}, {} cores, {:.0f} GiB, last-level cache {:.0f} MiB\n",
             machine.version, machine.machine.processor, machine.machine.cores,
             static_cast<double>(machine.machine.memory_bytes) / (1 << 30),
             static_cast<double>(machine.machine.cache_bytes) / (1 << 20));
  fmt::print("  landlock ABI {}, Linux {}\n", machine.machine.landlock_abi, machine.machine.kernel);
  for (const GpuRecord& gpu : machine.machine.gpus) {
    fmt::print("  {}: sm_{}, {} SMs, {:.0f} GiB, L2 {:.0f} MiB, the driver speaks CUDA {}\n",
               gpu.name, gpu.architecture, gpu.multiprocessors,
               static_cast<double>(gpu.memory_bytes) / (1 << 30),
               static_cast<double>(gpu.l2_bytes) / (1 << 20), gpu.driver);
  }
  for (const CompilerDescription& compiler : machine.compilers) {
    fmt::print("  {}: {}; target: {}; OpenMP: {}\n", compiler.name, compiler.identity,
               compiler.target_flags.empty()
                   ? "generic"
                   : fmt::format("{}", fmt::join(compiler.target_flags, " ")),
               compiler.openmp_flags.empty() ? "no" : "yes");
  }
  if (const Result<Python> python = python_with_torch()) {
    fmt::print("  PyTorch {} by {}\n", python->torch, python->path);
  }
  for (const MeterDescription& meter : machine.meters) {
    fmt::print("  energy ({}): {}\n",
               meter.backend == "cpu" ? "cpu" : fmt::format("GPU {}", meter.device),
               meter.meter.empty() ? "not measured, " + meter.missing : meter.meter);
  }
  if (noise) {
    fmt::print("  noise floor {:.1f} %: smaller differences cannot be shown here\n", 100 * *noise);
  }
  for (const Problem& problem : machine.problems) {
    fmt::print("  {} {}\n    {}\n", problem.fatal ? "missing:" : "optional:", problem.what,
               problem.remedy);
  }
  fmt::print("{}\n", noise ? "ready to judge" : "not ready to judge: see what is missing");
}

}  // namespace

int ceilings(const Options& options, std::stop_token stop) {
  Result<WorkerClient> worker = WorkerClient::start();
  if (!worker) {
    return report_error(options, worker.error());
  }
  ProgressLine progress(!options.quiet);
  progress.show("measuring ceilings");
  const Result<Ceilings> measured = worker->ceilings(
      options.run_settings.backend, options.run_settings.device, options.refresh, stop);
  progress.clear();
  if (!measured) {
    return report_error(options, measured.error());
  }
  if (options.json) {
    print_json(to_json(*measured));
    return exit_done;
  }
  Table table({"ceiling", "threads", "median", "5 %", "95 %", "unit"});
  for (const Ceiling& ceiling : measured->list) {
    table.add({ceiling.name, std::to_string(ceiling.threads), fmt::format("{:.1f}", ceiling.median),
               fmt::format("{:.1f}", ceiling.low), fmt::format("{:.1f}", ceiling.high),
               ceiling.unit});
  }
  fmt::print("{}", table.text());
  return exit_done;
}

int doctor(const Options& options, std::stop_token stop) {
  Result<WorkerClient> worker = WorkerClient::start();
  if (!worker) {
    return report_error(options, worker.error());
  }
  ProgressLine progress(!options.quiet);
  progress.show("looking for compilers");
  Result<WorkerDescription> machine = worker->describe(stop);
  if (!machine) {
    progress.clear();
    return report_error(options, machine.error());
  }
  look_for_torch(*machine);
  const bool fatal = std::any_of(machine->problems.begin(), machine->problems.end(),
                                 [](const Problem& problem) { return problem.fatal; });
  progress.show("measuring ceilings and the noise floor");
  const Result<double> noise =
      fatal ? Result<double>(make_error(ErrorKind::environment, "nothing can be judged here"))
            : measured_noise(*worker, stop);
  progress.clear();
  if (!noise && noise.error().kind == ErrorKind::interrupted) {
    return report_error(options, noise.error());
  }
  if (!noise && !fatal) {
    machine->problems.push_back({"the noise floor could not be measured: " + noise.error().text(),
                                 "mend that and run doctor again", true});
  }
  if (options.json) {
    nlohmann::json json = to_json(*machine);
    json["noise_floor"] = noise ? nlohmann::json(*noise) : nlohmann::json();
    print_json(json);
  } else {
    print_doctor(*machine, noise);
  }
  return noise ? exit_done : exit_environment;
}

}  // namespace kernelpro
