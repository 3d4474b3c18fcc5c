// What a call of CUDA does, by its name.
#pragma once

#include <string_view>

#include "common/model/trace.hpp"

namespace kernelpro {

// Of a function of the run-time interface ("cudaMemcpyAsync") or of the driver's
// ("cuMemcpyHtoDAsync_v2").
[[nodiscard]] CallKind call_kind(std::string_view name);

[[nodiscard]] bool starts_profiling(std::string_view name);
[[nodiscard]] bool stops_profiling(std::string_view name);

}  // namespace kernelpro
