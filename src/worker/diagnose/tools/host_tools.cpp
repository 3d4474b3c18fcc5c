#include "worker/diagnose/tools/host_tools.hpp"

namespace kernelpro {

const std::vector<Tool>& host_tools() {
  static const std::vector<Tool> tools = {not_vectorized_tool(), dependent_chain_tool(),
                                          poor_locality_tool(),  idle_threads_tool(),
                                          slow_math_tool(),      page_faults_tool()};
  return tools;
}

}  // namespace kernelpro
