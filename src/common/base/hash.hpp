// SHA-256 for identities, and a fast keyless hash for comparing memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace kernelpro {

// Lower-case hexadecimal SHA-256 of `data`.
[[nodiscard]] std::string sha256(std::string_view data);

// 64-bit hash of a memory range, for finding changes; not for adversaries who can see it.
[[nodiscard]] std::uint64_t memory_hash(const void* data, std::size_t bytes);

}  // namespace kernelpro
