// Included with the scalar type `Real` in force.
#pragma once

#include <cstdint>

// Writes the squared distance of every point to every centroid.
inline void kmeans_assign(std::int64_t n, std::int64_t k, std::int64_t d, const Real* points,
                          const Real* centroids, Real* distance) {
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t c = 0; c < k; ++c) {
      Real sum = static_cast<Real>(0);
      for (std::int64_t j = 0; j < d; ++j) {
        const Real difference = points[i * d + j] - centroids[c * d + j];
        sum += difference * difference;
      }
      distance[i * k + c] = sum;
    }
  }
}
