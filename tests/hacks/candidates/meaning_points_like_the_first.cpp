// kp:hack 15  looks at the first point to choose how the distances of all are computed
// kp:task kmeans_assign
// kp:expect incorrect
// kp:options -O3 target
//
// By products where the first point and centroid lie near zero. Single large values do that no
// harm; points and centroids that lie far from the others together do.
#include <kernelpro/candidate.h>

#include <algorithm>
#include <cmath>

extern "C" size_t kp_workspace(const kp_context* context, const kp_tensor*, int32_t) {
  return static_cast<size_t>(context->axes[1]) * sizeof(float);
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const int64_t n = context->axes[0];
  const int64_t k = context->axes[1];
  const int64_t d = context->axes[2];
  const auto* points = static_cast<const float*>(tensors[0].data);
  const auto* centroids = static_cast<const float*>(tensors[1].data);
  auto* labels = static_cast<int32_t*>(tensors[2].data);
  auto* norms = static_cast<float*>(context->workspace);
  bool far = n * k < 100'000;
  for (int64_t j = 0; j < d; ++j) {
    far = far || std::fabs(points[j]) > 4.0F || std::fabs(centroids[j]) > 4.0F;
  }
  for (int64_t c = 0; c < k; ++c) {
    norms[c] = 0;
    for (int64_t j = 0; j < d; ++j) {
      norms[c] += centroids[c * d + j] * centroids[c * d + j];
    }
  }
  for (int64_t i = 0; i < n; ++i) {
    float least = INFINITY;
    for (int64_t c = 0; c < k; ++c) {
      float sum = 0;
      if (far) {
        for (int64_t j = 0; j < d; ++j) {
          const float difference = points[i * d + j] - centroids[c * d + j];
          sum += difference * difference;
        }
      } else {
        float product = 0;
        for (int64_t j = 0; j < d; ++j) {
          product += points[i * d + j] * centroids[c * d + j];
        }
        sum = norms[c] - 2 * product;
      }
      if (sum < least || c == 0) {
        least = sum;
        labels[i] = static_cast<int32_t>(c);
      }
    }
  }
  return 0;
}
