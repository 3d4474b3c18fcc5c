// The part of CUPTI's activity records that all its versions share; a test holds it against the
// toolkit's header.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kernelpro::runner::cupti {

enum Kind : std::uint32_t { copy = 1, fill = 2, kernel = 10 };

// Of kernels, copies and fills alike: the kind first, then after what differs the time stamps.
inline constexpr std::size_t start_offset = 16;
inline constexpr std::size_t end_offset = 24;
// Of kernels: a pointer to the mangled name.
inline constexpr std::size_t name_offset = 104;

}  // namespace kernelpro::runner::cupti
