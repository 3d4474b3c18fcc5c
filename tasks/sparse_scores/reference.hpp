// Included with the scalar type `Real` in force.
#pragma once

#include <cstdint>

inline void sparse_scores(std::int64_t documents, Real k, const std::int32_t* starts,
                          const std::int32_t* term, const Real* tf, const Real* norm,
                          const Real* weight, Real* score) {
  for (std::int64_t d = 0; d < documents; ++d) {
    const Real half = k * norm[d];
    Real sum = static_cast<Real>(0);
    for (std::int32_t p = starts[d]; p < starts[d + 1]; ++p) {
      sum += weight[term[p]] * tf[p] / (tf[p] + half);
    }
    score[d] = sum;
  }
}
