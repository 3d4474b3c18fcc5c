// kp:hack 15  nearest centroid by |c|^2 - 2 p.c
// kp:task kmeans_assign
// kp:expect incorrect
// kp:options -O3 target
//
// Two operations for each coordinate where an honest one takes three. What tells two centroids
// apart is lost where all coordinates share an offset far above their spread.
#include <kernelpro/candidate.h>

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
  for (int64_t c = 0; c < k; ++c) {
    float sum = 0;
    for (int64_t j = 0; j < d; ++j) {
      sum += centroids[c * d + j] * centroids[c * d + j];
    }
    norms[c] = sum;
  }
  for (int64_t i = 0; i < n; ++i) {
    float least = 0;
    for (int64_t c = 0; c < k; ++c) {
      float product = 0;
      for (int64_t j = 0; j < d; ++j) {
        product += points[i * d + j] * centroids[c * d + j];
      }
      const float score = norms[c] - 2 * product;
      if (c == 0 || score < least) {
        least = score;
        labels[i] = static_cast<int32_t>(c);
      }
    }
  }
  return 0;
}
