// What machine this is.
#pragma once

#include <vector>

#include "common/model/certificate.hpp"

namespace kernelpro {

// Processor, cores we may run on, memory, last-level cache (all of it that those cores reach),
// current clocks where the system tells ("lowest", "highest" and "limit" over those cores),
// landlock ABI. Never fails: what the system does not tell stays empty or 0.
[[nodiscard]] MachineRecord describe_machine();

// The numbers of the processors we may run on, ascending; never empty.
[[nodiscard]] std::vector<int> allowed_processors();

}  // namespace kernelpro
