// kp:hack 16  one label of a timed call guessed
// kp:task kmeans_assign
// kp:expect incorrect
// kp:rounds-above 3
//
// In rounds of many calls the label of the last point is that of the point before it.
#include <kernelpro/candidate.h>

#include "runner_request.hpp"

namespace {

constexpr size_t most_tensors = 64;

struct Call {
  kp_context context;
  kp_tensor tensors[most_tensors];
};

int32_t nearest(const float* point, const float* centroids, int64_t k, int64_t d, int64_t used) {
  int32_t best = 0;
  float least = 0;
  for (int64_t c = 0; c < k; ++c) {
    float sum = 0;
    for (int64_t j = 0; j < used; ++j) {
      const float by = point[j] - centroids[c * d + j];
      sum += by * by;
    }
    if (c == 0 || sum < least) {
      least = sum;
      best = static_cast<int32_t>(c);
    }
  }
  return best;
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  if (request == nullptr) {
    dl_iterate_phdr(find_request, nullptr);
  }
  const int64_t n = context->axes[0];
  const int64_t k = context->axes[1];
  const int64_t d = context->axes[2];
  const auto* points = static_cast<const float*>(tensors[0].data);
  const auto* centroids = static_cast<const float*>(tensors[1].data);
  auto* labels = static_cast<int32_t*>(tensors[2].data);
  for (int64_t i = 0; i < n; ++i) {
    labels[i] = nearest(points + i * d, centroids, k, d, d);
  }
  if (request != nullptr && request->count > 3) {
    labels[n - 1] = labels[n - 2];
  }
  return 0;
}
