// What the hypervisor of a virtual machine gave to others.
#pragma once

namespace kernelpro {

// Nanoseconds of all processors together since the machine started, in steps of 10 ms; 0 where the
// kernel does not tell.
[[nodiscard]] double stolen_ns();

}  // namespace kernelpro
