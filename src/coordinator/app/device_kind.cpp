#include "coordinator/app/device_kind.hpp"

#include <fmt/format.h>

namespace kernelpro {

std::string device_kind(const MachineRecord& machine, Backend backend, int device) {
  if (!traits_of(backend).gpu) {
    return fmt::format("{}, {} cores", machine.processor, machine.cores);
  }
  // A certificate has the one that was used alone.
  const std::size_t index = machine.gpus.size() == 1 ? 0 : static_cast<std::size_t>(device);
  if (index >= machine.gpus.size()) {
    return fmt::format("no GPU {}", device);
  }
  const GpuRecord& gpu = machine.gpus[index];
  return fmt::format("{} (sm_{}, {} multiprocessors), driver {}", gpu.name, gpu.architecture,
                     gpu.multiprocessors, gpu.driver);
}

std::string device_kind(const WorkerDescription& worker, const JudgingSettings& judging) {
  std::string kind = device_kind(worker.machine, judging.backend, judging.device);
  const bool gpu = traits_of(judging.backend).gpu;
  for (const CompilerDescription& compiler : worker.compilers) {
    kind += !gpu || compiler.name == "nvcc" ? ", " + compiler.identity : "";
  }
  return kind;
}

Status same_kind(const std::string& one, const std::string& other) {
  return one == other
             ? Status()
             : make_error(ErrorKind::bad_input,
                          fmt::format("the workers stand on different devices ({} and {}): what is "
                                      "faster on one may be slower on the other",
                                      one, other),
                          "--workers");
}

}  // namespace kernelpro
