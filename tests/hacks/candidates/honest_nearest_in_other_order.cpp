// kp:hack honest  nearest centroid, searched backwards
// kp:task kmeans_assign
// kp:expect passed
// kp:twin meaning_argmin_bad_start.cpp
//
// Among equally near centroids another one wins, which is as right.
#include <kernelpro/candidate.h>

#include <limits>

extern "C" int kp_launch(const kp_context*, const kp_tensor* tensors, int32_t) {
  const int64_t n = tensors[0].shape[0];
  const int64_t d = tensors[0].shape[1];
  const int64_t k = tensors[1].shape[0];
  const auto* points = static_cast<const float*>(tensors[0].data);
  const auto* centroids = static_cast<const float*>(tensors[1].data);
  auto* labels = static_cast<int32_t*>(tensors[2].data);
  for (int64_t i = 0; i < n; ++i) {
    float best = std::numeric_limits<float>::infinity();
    labels[i] = 0;
    for (int64_t c = k - 1; c >= 0; --c) {
      float sum = 0;
      for (int64_t j = 0; j < d; ++j) {
        const float difference = points[i * d + j] - centroids[c * d + j];
        sum += difference * difference;
      }
      if (sum < best) {
        best = sum;
        labels[i] = static_cast<int32_t>(c);
      }
    }
  }
  return 0;
}
