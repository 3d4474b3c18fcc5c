// What is the same in all calls of a run: the candidate's contract and the machine.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "coordinator/propose/agents/conditions.hpp"
#include "coordinator/propose/agents/prompt_file.hpp"
#include "coordinator/propose/agents/sections.hpp"
#include "coordinator/propose/agents/text.hpp"

namespace kernelpro::agents {

namespace {

// In units that are read at a glance.
std::string rate_text(const Ceiling& ceiling) {
  const bool large = ceiling.median >= 1000 && ceiling.unit.starts_with("G");
  return large ? fmt::format("{:.4g} T{}", ceiling.median / 1000, ceiling.unit.substr(1))
               : fmt::format("{:.4g} {}", ceiling.median, ceiling.unit);
}

// What the name of a ceiling does not say.
std::string ceiling_note(const std::string& name) {
  if (name == "launch") {
    return " (an empty kernel, one behind the other)";
  }
  return name == "launch_sync" ? " (an empty kernel, until the host sees its end)" : "";
}

// Of a CPU with one thread and with the most that were measured, of a GPU the whole of it.
std::string ceilings_text(const Ceilings& ceilings) {
  int most = 0;
  for (const Ceiling& one : ceilings.list) {
    most = std::max(most, one.threads);
  }
  std::string rows;
  for (const Ceiling& one : ceilings.list) {
    const bool shown = one.threads == most || one.threads <= 1;
    if (shown && one.unit != "W") {
      rows += one.threads == 0
                  ? fmt::format("| {}{} | {} |\n", one.name, ceiling_note(one.name), rate_text(one))
                  : fmt::format("| {}, {} | {} |\n", one.name,
                                counted(static_cast<std::size_t>(one.threads), "thread"),
                                rate_text(one));
    }
  }
  return rows.empty()
             ? ""
             : "\nMeasured on it, at best (a copy counts what it reads and what it "
               "writes, a multiply-add counts as two):\n\n| ceiling | value |\n|---|---|\n" +
                   rows;
}

// Limits of an architecture, from the table of compute capabilities in the CUDA programming guide.
struct DeviceLimits {
  std::string_view architecture;
  int shared_kib;  // that a block may have, of which it must ask for what is beyond 48
  int threads;     // of a multiprocessor
};

constexpr auto device_limits = std::to_array<DeviceLimits>({{"80", 163, 2048},
                                                            {"86", 99, 1536},
                                                            {"89", 99, 1536},
                                                            {"90", 227, 2048},
                                                            {"100", 227, 2048},
                                                            {"103", 227, 2048},
                                                            {"120", 99, 1536}});

std::string limits_text(const GpuRecord& gpu, const MachineRecord& machine) {
  const std::string number =
      gpu.architecture.substr(0, gpu.architecture.find_first_not_of("0123456789"));
  const auto* const found = std::ranges::find(device_limits, number, &DeviceLimits::architecture);
  std::string out;
  if (found != device_limits.end()) {
    out = fmt::format(
        "A block may have {} KiB of shared memory and 1024 threads, a thread 255 registers; a "
        "multiprocessor holds {} threads and 65536 registers.\n",
        found->shared_kib, found->threads);
  }
  const auto sm = machine.clocks_mhz.find("gpu_sm");
  const auto memory = machine.clocks_mhz.find("gpu_memory");
  if (sm != machine.clocks_mhz.end() && memory != machine.clocks_mhz.end()) {
    out += fmt::format("Clocks when the baseline was judged: {:.0f} MHz, memory {:.0f} MHz.\n",
                       sm->second, memory->second);
  }
  return out;
}

std::string gpu_text(const GpuRecord& gpu) {
  return fmt::format("GPU: {} (sm_{}), {} multiprocessors, {} of memory, {} of L2, CUDA {}.\n",
                     gpu.name, gpu.architecture, gpu.multiprocessors,
                     bytes_text(static_cast<double>(gpu.memory_bytes)),
                     bytes_text(static_cast<double>(gpu.l2_bytes)), gpu.driver);
}

std::string processor_text(const MachineRecord& machine, int threads) {
  std::string out = fmt::format("Processor: {} ({}), {}", machine.processor, machine.architecture,
                                counted(static_cast<std::size_t>(machine.cores), "core"));
  if (machine.cache_bytes > 0) {
    out += fmt::format(", {} of last-level cache",
                       bytes_text(static_cast<double>(machine.cache_bytes)));
  }
  out += fmt::format(". `context->threads` is {}.\n", threads > 0 ? threads : machine.cores);
  return out;
}

// nvcc is the compiler of one backend, and its only one.
std::string compilers_text(const AgentOrder& order) {
  std::vector<std::string> compilers = order.compilers;
  std::erase(compilers, "nvcc");
  const bool cpu = order.run->settings.judging.backend == Backend::cpu;
  return cpu && !compilers.empty() ? fmt::format("Compilers: {}.\n", fmt::join(compilers, ", "))
                                   : "";
}

// What stands of a part in this run.
std::string part_text(const Scene& scene, const std::string& name) {
  std::string out;
  for (const PromptPiece& piece : scene.prompts->parts.at(name)) {
    out += hold(piece.when, *scene.order) ? piece.text : "";
  }
  return trimmed(out);
}

}  // namespace

std::string contract_section(const Scene& scene, const Shown& /*shown*/) {
  return part_text(scene, "contract");
}

std::string backend_section(const Scene& scene, const Shown& /*shown*/) {
  const JudgingSettings& judging = scene.order->run->settings.judging;
  std::string libraries;
  for (const HeaderFolder& one : judging.includes) {
    libraries += fmt::format("{}{}{}", libraries.empty() ? "" : ", ", one.name,
                             one.commit.empty() ? "" : " (commit " + one.commit + ")");
  }
  return part_text(scene, name_of(judging.backend)) +
         (libraries.empty() ? ""
                            : fmt::format("\n- Headers of these libraries may be included too, as "
                                          "with -I: {}.",
                                          libraries));
}

std::string language_section(const Scene& scene, const Shown& /*shown*/) {
  return std::string(traits_of(scene.order->run->settings.judging.backend).language);
}

std::string machine_section(const Scene& scene, const Shown& /*shown*/) {
  const AgentOrder& order = *scene.order;
  const RunSettings& settings = order.run->settings;
  std::string out = "## The machine\n\n";
  if (traits_of(settings.judging.backend).gpu && !order.machine.gpus.empty()) {
    const auto& gpus = order.machine.gpus;
    const auto index = static_cast<std::size_t>(std::max(settings.judging.device, 0));
    const GpuRecord& gpu = gpus.size() > 1 && index < gpus.size() ? gpus[index] : gpus.front();
    out += gpu_text(gpu) + limits_text(gpu, order.machine);
  } else {
    out += processor_text(order.machine, settings.judging.threads);
  }
  out += compilers_text(order);
  return out + ceilings_text(order.ceilings);
}

}  // namespace kernelpro::agents
