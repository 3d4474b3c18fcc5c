#include "worker/session/worker_description.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "worker/ceilings/machine.hpp"
#include "worker/cuda/nvml.hpp"
#include "worker/judge/rapl.hpp"

namespace kernelpro {

namespace {

bool has_compiler(const std::vector<Compiler>& compilers, const std::string& part) {
  return std::any_of(compilers.begin(), compilers.end(), [&part](const Compiler& compiler) {
    return compiler.name.find(part) != std::string::npos;
  });
}

void add_compilers(const std::vector<Compiler>& compilers, WorkerDescription& description) {
  for (const Compiler& compiler : compilers) {
    description.compilers.push_back({compiler.name, compiler.path, compiler.identity,
                                     compiler.target_flags, compiler.openmp_flags});
    if (compiler.openmp_flags.empty() && compiler.host_compiler.empty()) {
      description.problems.push_back({compiler.name + " has no OpenMP",
                                      "apt-get install libgomp1 (g++) or libomp-19-dev (clang)",
                                      false});
    }
  }
  if (!has_compiler(compilers, "g++")) {
    description.problems.push_back({"g++ is missing", "apt-get install g++", false});
  }
  if (!has_compiler(compilers, "clang")) {
    description.problems.push_back(
        {"clang++-19 is missing", "apt-get install clang-19 libomp-19-dev", false});
  }
}

// What stands in the way of a GPU that is there.
void add_gpu_problems(const GpuDescription& gpu, WorkerDescription& description) {
  if (!gpu.unusable.empty()) {
    description.problems.push_back({gpu.name + " cannot be used", gpu.unusable, false});
    return;
  }
  const auto nvcc =
      std::find_if(description.compilers.begin(), description.compilers.end(),
                   [](const CompilerDescription& compiler) { return compiler.name == "nvcc"; });
  if (nvcc == description.compilers.end()) {
    description.problems.push_back({gpu.name + " is here, but no nvcc",
                                    "install the CUDA toolkit, or set CUDA_HOME to it", false});
  } else if (const Status fits = check_driver(gpu.driver_version, nvcc->identity); !fits) {
    description.problems.push_back({gpu.name + " cannot be used", fits.error().message, false});
  }
  const std::optional<GpuState> state = gpu_state(gpu.uuid);
  if (!state) {
    return;
  }
  std::vector<unsigned> others = state->users;
  std::erase(others, static_cast<unsigned>(getpid()));
  if (!others.empty()) {
    description.problems.push_back(
        {fmt::format("{} other process{} on {} (the first is {}): timings will suffer",
                     others.size(), others.size() == 1 ? " computes" : "es compute", gpu.name,
                     others.front()),
         "end them, or choose another GPU with --device", false});
  }
}

void add_gpus(const Result<std::vector<GpuDescription>>& gpus, WorkerDescription& description) {
  if (!gpus) {
    description.problems.push_back({"no GPU, so no cuda backend: " + gpus.error().text(),
                                    "nothing, where only the CPU is wanted", false});
    return;
  }
  for (const GpuDescription& gpu : *gpus) {
    add_gpu_problems(gpu, description);
  }
}

MeterDescription describe_meter(Backend backend, int device,
                                const Result<std::unique_ptr<EnergyMeter>>& meter) {
  return {backend, device, meter ? (*meter)->name() : "", meter ? "" : meter.error().text()};
}

void add_meters(const Result<std::vector<GpuDescription>>& gpus, WorkerDescription& description) {
  description.meters.push_back(describe_meter(Backend::cpu, 0, open_rapl(powercap_folder())));
  for (const GpuDescription& gpu : gpus ? *gpus : std::vector<GpuDescription>()) {
    description.meters.push_back(
        describe_meter(Backend::cuda, gpu.ordinal, open_gpu_meter(gpu.uuid)));
  }
}

}  // namespace

Problem landlock_problem(int abi) {
  return {fmt::format("landlock ABI {} or later is missing (found {})", least_landlock_abi, abi),
          "use Linux 6.1 or later with landlock in CONFIG_LSM (boot with lsm=landlock,…), or judge "
          "with --sandbox none, which marks every result unverified",
          true};
}

GpuRecord gpu_record(const GpuDescription& gpu) {
  return {gpu.name,
          gpu.uuid,
          gpu.architecture,
          fmt::format("{}.{}", gpu.driver_version / 1000, gpu.driver_version % 1000 / 10),
          gpu.multiprocessors,
          gpu.memory_bytes,
          gpu.l2_bytes};
}

WorkerDescription describe_worker(const Result<std::vector<Compiler>>& compilers) {
  WorkerDescription description;
  description.version = KERNELPRO_VERSION;
  description.machine = describe_machine();
  const Result<std::vector<GpuDescription>> gpus = list_gpus();
  if (gpus) {
    std::transform(gpus->begin(), gpus->end(), std::back_inserter(description.machine.gpus),
                   gpu_record);
  }
  add_meters(gpus, description);
  if (description.machine.landlock_abi < least_landlock_abi) {
    description.problems.push_back(landlock_problem(description.machine.landlock_abi));
  }
  if (!compilers) {
    description.problems.push_back(
        {compilers.error().text(), "apt-get install g++ clang-19", true});
    return description;
  }
  add_compilers(*compilers, description);
  add_gpus(gpus, description);
  if (geteuid() != 0) {
    description.problems.push_back(
        {"candidates run under your own user: landlock and the system-call filter alone keep them "
         "from your files and processes",
         "run as root, where they get a user of their own, to judge code that you do not trust",
         false});
  }
  return description;
}

}  // namespace kernelpro
