// What machine this is.
#pragma once

#include "common/model/certificate.hpp"

namespace kernelpro {

// Processor, cores we may run on, memory, last-level cache, current clocks where the system tells,
// landlock ABI. Never fails: what the system does not tell stays empty or 0.
[[nodiscard]] MachineRecord describe_machine();

}  // namespace kernelpro
