#include "worker/diagnose/tools/tool.hpp"
#include "worker/diagnose/tools/tools.hpp"

namespace kernelpro {

const std::vector<Tool>& all_tools() {
  static const std::vector<Tool> tools = {
      uncoalesced_access_tool(), narrow_loads_tool(),        excess_traffic_tool(),
      bank_conflicts_tool(),     register_spills_tool(),     occupancy_limiter_tool(),
      block_shortage_tool(),     barrier_stalls_tool(),      long_scoreboard_tool(),
      contended_atomics_tool(),  tensor_cores_unused_tool(), hmma_where_hgmma_tool(),
      divergent_warps_tool(),    accidental_double_tool(),   slow_arithmetic_tool(),
      integer_division_tool(),   repeated_loads_tool(),      memory_fences_tool(),
      launch_bound_tool(),       host_waits_tool(),
  };
  return tools;
}

}  // namespace kernelpro
