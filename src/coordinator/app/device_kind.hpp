// Which kind of device a worker judges on. What is faster on one kind may be slower on another, so
// one run has one kind.
#pragma once

#include <string>

#include "common/base/result.hpp"
#include "common/model/judging.hpp"
#include "common/model/orders.hpp"

namespace kernelpro {

// "NVIDIA H200 (sm_90a, 132 multiprocessors), driver 13.0" or "AMD EPYC 9654, 96 cores". Two of a
// kind have the same.
[[nodiscard]] std::string device_kind(const MachineRecord& machine, Backend backend, int device);

// The same, with the compilers that build for it.
[[nodiscard]] std::string device_kind(const WorkerDescription& worker,
                                      const JudgingSettings& judging);

// An error that names both, where they differ.
[[nodiscard]] Status same_kind(const std::string& one, const std::string& other);

}  // namespace kernelpro
