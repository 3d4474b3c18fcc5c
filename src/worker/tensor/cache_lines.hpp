// Memory taken out of the processor's caches, line by line.
#pragma once

#include <cstddef>

namespace kernelpro {

// Whether this processor lets a program do that to memory alone: x86-64 with clflushopt. On arm64
// the instruction stops at a point that may lie before the last cache.
[[nodiscard]] bool can_drop_lines();

// Writes back what is in any cache of the machine of `bytes` from `begin` on, and drops it there,
// whatever address it is mapped at.
void drop_lines(const char* begin, std::size_t bytes);

}  // namespace kernelpro
