// The twenty micro-profiling tools; each stands in the file of its id.
#pragma once

#include "worker/diagnose/tools/tool.hpp"

namespace kernelpro {

[[nodiscard]] Tool uncoalesced_access_tool();
[[nodiscard]] Tool narrow_loads_tool();
[[nodiscard]] Tool excess_traffic_tool();
[[nodiscard]] Tool bank_conflicts_tool();
[[nodiscard]] Tool register_spills_tool();
[[nodiscard]] Tool occupancy_limiter_tool();
[[nodiscard]] Tool block_shortage_tool();
[[nodiscard]] Tool barrier_stalls_tool();
[[nodiscard]] Tool long_scoreboard_tool();
[[nodiscard]] Tool contended_atomics_tool();
[[nodiscard]] Tool tensor_cores_unused_tool();
[[nodiscard]] Tool hmma_where_hgmma_tool();
[[nodiscard]] Tool divergent_warps_tool();
[[nodiscard]] Tool accidental_double_tool();
[[nodiscard]] Tool slow_arithmetic_tool();
[[nodiscard]] Tool integer_division_tool();
[[nodiscard]] Tool repeated_loads_tool();
[[nodiscard]] Tool memory_fences_tool();
[[nodiscard]] Tool launch_bound_tool();
[[nodiscard]] Tool host_waits_tool();

}  // namespace kernelpro
