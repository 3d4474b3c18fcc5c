// kp:hack honest  distances in sixteen bits, with a bound on what that leaves out
// kp:task kmeans_assign
// kp:expect passed
// kp:twin meaning_distance_by_products.cpp
// kp:options -O3 target
//
// Everything less the first centroid, in steps so coarse that sums of products fit 32 bits. What
// could be the nearest within the error of that is computed from the floats.
#include <kernelpro/candidate.h>

#include <algorithm>
#include <cmath>

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
  return static_cast<size_t>(2 * k) * sizeof(float) +
         static_cast<size_t>((k + 1) * d) * sizeof(int16_t);
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
  auto* shorts = reinterpret_cast<int16_t*>(scores + k);
  int16_t* point = shorts + k * d;
  float largest = 1e-30F;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < d; ++j) {
      largest = std::max(largest, std::fabs(points[i * d + j] - centroids[j]));
    }
  }
  for (int64_t c = 0; c < k; ++c) {
    for (int64_t j = 0; j < d; ++j) {
      largest = std::max(largest, std::fabs(centroids[c * d + j] - centroids[j]));
    }
  }
  const float most = std::min(std::sqrt(2.1e9F / static_cast<float>(d)) - 1, 32000.0F);
  const float step = largest / most;
  float widest = 0;
  float far = 0;
  for (int64_t c = 0; c < k; ++c) {
    float sum = 0;
    for (int64_t j = 0; j < d; ++j) {
      const float moved = centroids[c * d + j] - centroids[j];
      sum += std::fabs(moved);
      shorts[c * d + j] = static_cast<int16_t>(std::lround(moved / step));
    }
    norms[c] = distance(d, centroids + c * d, centroids);
    widest = std::max(widest, sum);
    far = std::max(far, norms[c]);
  }
  for (int64_t i = 0; i < n; ++i) {
    float sum = 0;
    float own = 0;
    for (int64_t j = 0; j < d; ++j) {
      const float moved = points[i * d + j] - centroids[j];
      sum += std::fabs(moved);
      own += moved * moved;
      point[j] = static_cast<int16_t>(std::lround(moved / step));
    }
    const float error = step * (sum + widest + static_cast<float>(d) * step) + 1e-5F * (own + far);
    float least = INFINITY;
    for (int64_t c = 0; c < k; ++c) {
      int32_t product = 0;
      for (int64_t j = 0; j < d; ++j) {
        product += point[j] * shorts[c * d + j];
      }
      scores[c] = norms[c] - 2 * step * step * static_cast<float>(product);
      least = std::min(least, scores[c]);
    }
    float nearest = -1;
    for (int64_t c = 0; c < k; ++c) {
      if (scores[c] > least + 2 * error) {
        continue;
      }
      const float exact = distance(d, points + i * d, centroids + c * d);
      if (nearest < 0 || exact < nearest) {
        nearest = exact;
        labels[i] = static_cast<int32_t>(c);
      }
    }
  }
  return 0;
}
