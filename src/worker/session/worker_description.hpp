// What a worker says of itself: its machine, and what stands in the way of judging there.
#pragma once

#include <vector>

#include "common/base/result.hpp"
#include "common/model/certificate.hpp"
#include "common/model/orders.hpp"
#include "worker/cuda/gpu.hpp"

namespace kernelpro {

inline constexpr int least_landlock_abi = 2;

[[nodiscard]] Problem landlock_problem(int abi);
[[nodiscard]] GpuRecord gpu_record(const GpuDescription& gpu);

// `compilers`: those of the worker's toolchain, or why there is none.
[[nodiscard]] WorkerDescription describe_worker(const Result<std::vector<Compiler>>& compilers);

}  // namespace kernelpro
