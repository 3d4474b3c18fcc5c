// kp:options -O3 target openmp
// The centroids are transposed, so that one point's distances to `lanes` centroids grow side by
// side, one dimension after the other.
#include <algorithm>
#include <cstdint>
#include <limits>

#include "kernelpro/candidate.h"

namespace {

constexpr int64_t lanes = 16;

int64_t groups_of(int64_t k) {
  return (k + lanes - 1) / lanes;
}

// Lanes past the last centroid repeat it.
void transpose_group(int64_t k, int64_t d, int64_t first, const float* centroids, float* group) {
  for (int64_t j = 0; j < d; ++j) {
    for (int64_t l = 0; l < lanes; ++l) {
      group[j * lanes + l] = centroids[std::min(first + l, k - 1) * d + j];
    }
  }
}

int32_t nearest(int64_t k, int64_t d, const float* point, const float* transposed) {
  float smallest = std::numeric_limits<float>::infinity();
  int64_t best = 0;
  for (int64_t first = 0; first < k; first += lanes) {
    const float* group = transposed + first * d;
    float sum[lanes] = {};
    for (int64_t j = 0; j < d; ++j) {
      for (int64_t l = 0; l < lanes; ++l) {
        const float difference = point[j] - group[j * lanes + l];
        sum[l] += difference * difference;
      }
    }
    const int64_t used = std::min(lanes, k - first);
    for (int64_t l = 0; l < used; ++l) {
      best = sum[l] < smallest ? first + l : best;
      smallest = std::min(smallest, sum[l]);
    }
  }
  return static_cast<int32_t>(best);
}

}  // namespace

size_t kp_workspace(const kp_context* context, const kp_tensor* /*tensors*/, int32_t /*count*/) {
  const int64_t floats = groups_of(context->axes[1]) * lanes * context->axes[2];
  return static_cast<size_t>(floats) * sizeof(float);
}

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  if (count != 3 || context->workspace_bytes < kp_workspace(context, tensors, count)) {
    return 1;
  }
  const int64_t n = context->axes[0];
  const int64_t k = context->axes[1];
  const int64_t d = context->axes[2];
  const auto* points = static_cast<const float*>(tensors[0].data);
  const auto* centroids = static_cast<const float*>(tensors[1].data);
  auto* labels = static_cast<int32_t*>(tensors[2].data);
  auto* transposed = static_cast<float*>(context->workspace);
  for (int64_t first = 0; first < k; first += lanes) {
    transpose_group(k, d, first, centroids, transposed + first * d);
  }
#pragma omp parallel for schedule(static) num_threads(context->threads)
  for (int64_t i = 0; i < n; ++i) {
    labels[i] = nearest(k, d, points + i * d, transposed);
  }
  return 0;
}
