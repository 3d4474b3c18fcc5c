// The words behind a tensor's elements, many at a time: as value_word of draw.hpp gives them one by
// one.
#pragma once

#include <cstdint>

#include "worker/tensor/draw.hpp"

namespace kernelpro {

// The words of group `group` in element order.
void value_words(const Key& key, std::uint64_t group, std::uint64_t stream,
                 std::uint32_t (&out)[group_elements]);

}  // namespace kernelpro
