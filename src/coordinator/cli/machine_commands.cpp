#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "common/wire/json.hpp"
#include "coordinator/app/machine.hpp"
#include "coordinator/cli/commands.hpp"
#include "coordinator/cli/watched.hpp"
#include "coordinator/report/table.hpp"

namespace kernelpro {

namespace {

void print_doctor(const MachineCheck& check) {
  const WorkerDescription& machine = check.machine;
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
  if (check.torch) {
    fmt::print("  PyTorch {} by {}\n", check.torch->torch, check.torch->path);
  }
  for (const MeterDescription& meter : machine.meters) {
    fmt::print(
        "  energy ({}): {}\n",
        traits_of(meter.backend).gpu ? fmt::format("GPU {}", meter.device) : name_of(meter.backend),
        meter.meter.empty() ? "not measured, " + meter.missing : meter.meter);
  }
  if (check.noise_floor) {
    fmt::print("  noise floor {:.1f} %: smaller differences cannot be shown here\n",
               100 * *check.noise_floor);
  }
  for (const Problem& problem : machine.problems) {
    fmt::print("  {} {}\n    {}\n", problem.fatal ? "missing:" : "optional:", problem.what,
               problem.remedy);
  }
  fmt::print("{}\n",
             check.noise_floor ? "ready to judge" : "not ready to judge: see what is missing");
}

void print_ceilings(const Ceilings& measured) {
  Table table({"ceiling", "threads", "median", "5 %", "95 %", "unit"});
  for (const Ceiling& ceiling : measured.list) {
    table.add({ceiling.name, std::to_string(ceiling.threads), fmt::format("{:.1f}", ceiling.median),
               fmt::format("{:.1f}", ceiling.low), fmt::format("{:.1f}", ceiling.high),
               ceiling.unit});
  }
  fmt::print("{}", table.text());
}

}  // namespace

int ceilings_command(const Options& options, std::stop_token stop) {
  const Result<Ceilings> measured = watched(options, [&](const Watcher& watcher) {
    return measure_ceilings(options.ceilings, watcher, stop);
  });
  return print_result(options, measured, print_ceilings);
}

int doctor_command(const Options& options, std::stop_token stop) {
  const Result<MachineCheck> check =
      watched(options, [&](const Watcher& watcher) { return check_machine(watcher, stop); });
  return print_result(options, check, print_doctor, [](const MachineCheck& found) {
    return found.noise_floor ? exit_done : exit_environment;
  });
}

}  // namespace kernelpro
