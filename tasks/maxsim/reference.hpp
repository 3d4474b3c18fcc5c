// Included with the scalar type `Real` in force.
#pragma once

#include <cstdint>

inline void maxsim(std::int64_t query_tokens, std::int64_t documents, std::int64_t tokens,
                   std::int64_t d, const Real* query, const Real* document, Real* score) {
  for (std::int64_t b = 0; b < documents; ++b) {
    Real total = static_cast<Real>(0);
    for (std::int64_t q = 0; q < query_tokens; ++q) {
      Real largest = static_cast<Real>(0);
      for (std::int64_t t = 0; t < tokens; ++t) {
        Real sum = static_cast<Real>(0);
        for (std::int64_t j = 0; j < d; ++j) {
          sum += query[q * d + j] * document[(b * tokens + t) * d + j];
        }
        if (t == 0 || sum > largest) {
          largest = sum;
        }
      }
      total += largest;
    }
    score[b] = total;
  }
}
