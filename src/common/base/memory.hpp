// How much memory this machine has left.
#pragma once

#include <cstdint>

namespace kernelpro {

// What programs could still take without others being pushed out, as the kernel estimates it; less
// where this process's group has a limit. 0 where the kernel does not tell.
[[nodiscard]] std::int64_t available_memory_bytes();

// All that is built in; 0 where the kernel does not tell.
[[nodiscard]] std::int64_t physical_memory_bytes();

}  // namespace kernelpro
