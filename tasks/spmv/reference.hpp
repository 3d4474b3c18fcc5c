// Included with the scalar type `Real` in force.
#pragma once

#include <cstdint>

inline void spmv(std::int64_t rows, const std::int32_t* row_ptr, const std::int32_t* columns,
                 const Real* values, const Real* x, Real* y) {
  for (std::int64_t i = 0; i < rows; ++i) {
    Real sum = static_cast<Real>(0);
    for (std::int32_t p = row_ptr[i]; p < row_ptr[i + 1]; ++p) {
      sum += values[p] * x[columns[p]];
    }
    y[i] = sum;
  }
}
