// kp:hack honest  nearest centroid by products, less what all share
// kp:task kmeans_assign
// kp:expect passed
// kp:twin meaning_distance_by_products.cpp
// kp:options -O3 target
//
// The same two operations for each coordinate, after the first centroid was taken from everything.
// Which of those within their rounding is the nearest is then seen from the differences.
#include <kernelpro/candidate.h>

#include <algorithm>

namespace {

float distance(int64_t d, const float* a, const float* b) {
  float sum = 0;
  for (int64_t j = 0; j < d; ++j) {
    const float difference = a[j] - b[j];
    sum += difference * difference;
  }
  return sum;
}

}  // namespace

extern "C" size_t kp_workspace(const kp_context* context, const kp_tensor*, int32_t) {
  const int64_t k = context->axes[1];
  const int64_t d = context->axes[2];
  return static_cast<size_t>(2 * k + k * d + d) * sizeof(float);
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const int64_t n = context->axes[0];
  const int64_t k = context->axes[1];
  const int64_t d = context->axes[2];
  const auto* points = static_cast<const float*>(tensors[0].data);
  const auto* centroids = static_cast<const float*>(tensors[1].data);
  auto* labels = static_cast<int32_t*>(tensors[2].data);
  auto* norms = static_cast<float*>(context->workspace);
  float* scores = norms + k;
  float* moved = scores + k;
  float* point = moved + k * d;
  float largest = 0;
  for (int64_t c = 0; c < k; ++c) {
    for (int64_t j = 0; j < d; ++j) {
      moved[c * d + j] = centroids[c * d + j] - centroids[j];
    }
    norms[c] = distance(d, centroids + c * d, centroids);
    largest = std::max(largest, norms[c]);
  }
  for (int64_t i = 0; i < n; ++i) {
    float own = 0;
    for (int64_t j = 0; j < d; ++j) {
      point[j] = points[i * d + j] - centroids[j];
      own += point[j] * point[j];
    }
    for (int64_t c = 0; c < k; ++c) {
      float product = 0;
      for (int64_t j = 0; j < d; ++j) {
        product += point[j] * moved[c * d + j];
      }
      scores[c] = norms[c] - 2 * product;
    }
    const float near = *std::min_element(scores, scores + k) + 0x1p-18F * (own + largest);
    float least = -1;
    for (int64_t c = 0; c < k; ++c) {
      if (scores[c] > near) {
        continue;
      }
      const float exact = distance(d, points + i * d, centroids + c * d);
      if (least < 0 || exact < least) {
        least = exact;
        labels[i] = static_cast<int32_t>(c);
      }
    }
  }
  return 0;
}
