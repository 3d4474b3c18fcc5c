// Inputs changed after they were drawn: moved by some roundings, or rounded to a lower precision.
#pragma once

#include <cstddef>

#include "common/base/chacha.hpp"
#include "common/model/dtype.hpp"
#include "worker/tensor/lower.hpp"

namespace kernelpro {

// Moves each value of a floating tensor by so many roundings, up or down as `key` says; zeros stay,
// and what is as near to zero as that.
void nudge_values(char* data, DType dtype, std::size_t elements, const Key& key,
                  std::uint32_t roundings);

// Rounds each value of a floating tensor to `lower`, where that is coarser than its own type.
void round_values(char* data, DType dtype, std::size_t elements, Lower lower);

}  // namespace kernelpro
