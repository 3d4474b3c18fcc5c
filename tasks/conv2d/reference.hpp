// Included with the scalar type `Real` in force.
#pragma once

#include <cstdint>

inline void conv2d(std::int64_t images, std::int64_t in, std::int64_t out, std::int64_t h,
                   std::int64_t w, const Real* x, const Real* filters, Real* y) {
  for (std::int64_t b = 0; b < images; ++b) {
    for (std::int64_t o = 0; o < out; ++o) {
      for (std::int64_t i = 0; i < h; ++i) {
        for (std::int64_t j = 0; j < w; ++j) {
          Real sum = static_cast<Real>(0);
          for (std::int64_t c = 0; c < in; ++c) {
            for (std::int64_t u = 0; u < 3; ++u) {
              for (std::int64_t v = 0; v < 3; ++v) {
                const std::int64_t row = i + u - 1;
                const std::int64_t column = j + v - 1;
                if (row >= 0 && row < h && column >= 0 && column < w) {
                  sum += filters[((o * in + c) * 3 + u) * 3 + v] *
                         x[((b * in + c) * h + row) * w + column];
                }
              }
            }
          }
          y[((b * out + o) * h + i) * w + j] = sum;
        }
      }
    }
  }
}
