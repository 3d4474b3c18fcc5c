// What is the same in all calls of a run: the candidate's contract and the machine.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

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
                  ? fmt::format("| {} | {} |\n", one.name, rate_text(one))
                  : fmt::format("| {}, {} | {} |\n", one.name,
                                counted(static_cast<std::size_t>(one.threads), "thread"),
                                rate_text(one));
    }
  }
  return rows.empty() ? ""
                      : "\nMeasured on it, at best (a copy counts what it reads and what it "
                        "writes):\n\n| ceiling | value |\n|---|---|\n" +
                            rows;
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

}  // namespace

std::string contract_section(const Scene& scene, const Shown& /*shown*/) {
  return scene.prompts->parts.at("contract");
}

std::string backend_section(const Scene& scene, const Shown& /*shown*/) {
  return scene.prompts->parts.at(name_of(scene.order->run->settings.judging.backend));
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
    out += gpu_text(gpus.size() > 1 && index < gpus.size() ? gpus[index] : gpus.front());
  } else {
    out += processor_text(order.machine, settings.judging.threads);
  }
  out += compilers_text(order);
  return out + ceilings_text(order.ceilings);
}

}  // namespace kernelpro::agents
