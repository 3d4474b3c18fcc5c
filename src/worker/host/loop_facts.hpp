// What a loop does, from its instructions.
#pragma once

#include <vector>

#include "common/model/host_profile.hpp"
#include "worker/host/host_instruction.hpp"

namespace kernelpro {

// `body` is not empty: from the place that is branched back to, to that branch. Branches within
// are taken for straight code.
[[nodiscard]] HostLoop facts_of_loop(const std::vector<HostInstruction>& body);

}  // namespace kernelpro
