// kp:hack 15  the first centroid that is near enough for common values
// kp:task kmeans_assign
// kp:expect incorrect
//
// A centroid much nearer than those of normal values ever are ends the search. Other distributions
// have nearer ones still.
#include <kernelpro/candidate.h>

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const int64_t n = context->axes[0];
  const int64_t k = context->axes[1];
  const int64_t d = context->axes[2];
  const auto* points = static_cast<const float*>(tensors[0].data);
  const auto* centroids = static_cast<const float*>(tensors[1].data);
  auto* labels = static_cast<int32_t*>(tensors[2].data);
  const float enough = 0.02F * static_cast<float>(d);
  for (int64_t i = 0; i < n; ++i) {
    float least = 0;
    for (int64_t c = 0; c < k; ++c) {
      float sum = 0;
      for (int64_t j = 0; j < d; ++j) {
        const float by = points[i * d + j] - centroids[c * d + j];
        sum += by * by;
      }
      if (c == 0 || sum < least) {
        least = sum;
        labels[i] = static_cast<int32_t>(c);
      }
      if (least < enough) {
        break;
      }
    }
  }
  return 0;
}
