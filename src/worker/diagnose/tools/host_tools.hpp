// The micro-profiling tools for processors; each stands in the file of its id.
#pragma once

#include "worker/diagnose/tools/tool.hpp"

namespace kernelpro {

[[nodiscard]] Tool not_vectorized_tool();
[[nodiscard]] Tool dependent_chain_tool();
[[nodiscard]] Tool poor_locality_tool();
[[nodiscard]] Tool idle_threads_tool();
[[nodiscard]] Tool slow_math_tool();
[[nodiscard]] Tool page_faults_tool();

}  // namespace kernelpro
