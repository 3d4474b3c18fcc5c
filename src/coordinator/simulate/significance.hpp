// Whether a difference is more than chance.
#pragma once

#include <cstdint>
#include <vector>

namespace kernelpro {

// The share of 9,999 random relabelings of both lists, the given one included, whose means lie at
// least as far apart as theirs. 1 where one of them is empty.
[[nodiscard]] double permutation_p(const std::vector<double>& one, const std::vector<double>& other,
                                   std::uint64_t seed);

// Corrects the p-values of so many comparisons at once (Holm's step-down); they keep their places.
[[nodiscard]] std::vector<double> holm(const std::vector<double>& p_values);

}  // namespace kernelpro
