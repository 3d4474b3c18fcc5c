// Row pointers: how the rows of a sparse matrix, or groups, share what there is.
#pragma once

#include <vector>

#include "worker/tensor/generate.hpp"

namespace kernelpro {

// The elements of input `index`, which holds row pointers. Rows have between half and one and a
// half of the mean length. Some four rows of a spiked set are empty and as many eight times as
// long. Sets of `large`, `mixed` and `shifted` values are ragged: one row has up to 64 times the
// mean, or half of all there is and more, and up to seven in eight of the others are empty. Where a
// row needs a column for each entry, none is longer than that, unless there are hardly more columns
// than entries a row.
[[nodiscard]] std::vector<char> draw_offsets(const Task& task, const BufferPlan& plan,
                                             std::size_t index, const SetDraw& draw);

}  // namespace kernelpro
