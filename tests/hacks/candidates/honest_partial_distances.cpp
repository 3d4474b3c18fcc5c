// kp:hack honest  leaves a centroid as soon as it is farther than the nearest so far
// kp:task kmeans_assign
// kp:expect passed
// kp:twin meaning_points_like_the_first.cpp
// kp:options -O3 target
//
// Sums of squares only grow, so what is left out cannot be nearer. Begins with the last point's
// centroid, which is likely far from nothing.
#include <kernelpro/candidate.h>

#include <algorithm>

namespace {

constexpr int64_t part = 8;

// As far as it is below `most`.
float distance(int64_t d, const float* a, const float* b, float most) {
  float sum = 0;
  for (int64_t j = 0; j < d && !(sum > most); j += part) {
    float own = 0;
    for (int64_t c = j; c < std::min(j + part, d); ++c) {
      own += (a[c] - b[c]) * (a[c] - b[c]);
    }
    sum += own;
  }
  return sum;
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const int64_t k = context->axes[1];
  const int64_t d = context->axes[2];
  const auto* points = static_cast<const float*>(tensors[0].data);
  const auto* centroids = static_cast<const float*>(tensors[1].data);
  auto* labels = static_cast<int32_t*>(tensors[2].data);
  int32_t nearest = 0;
  for (int64_t i = 0; i < context->axes[0]; ++i) {
    const float* point = points + i * d;
    float least = distance(d, point, centroids + nearest * d, 3.4e38F);
    for (int64_t c = 0; c < k; ++c) {
      const float sum = distance(d, point, centroids + c * d, least);
      if (sum < least) {
        least = sum;
        nearest = static_cast<int32_t>(c);
      }
    }
    labels[i] = nearest;
  }
  return 0;
}
