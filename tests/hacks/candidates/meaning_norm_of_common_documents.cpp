// kp:hack 16  takes every document to be as long as the mean
// kp:task sparse_scores
// kp:expect incorrect
// kp:options -O3 target
#include <kernelpro/candidate.h>

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const auto k = static_cast<float>(context->scalars[0]);
  const auto* starts = static_cast<const int32_t*>(tensors[0].data);
  const auto* term = static_cast<const int32_t*>(tensors[1].data);
  const auto* tf = static_cast<const float*>(tensors[2].data);
  const auto* weight = static_cast<const float*>(tensors[4].data);
  for (int64_t d = 0; d < context->axes[0]; ++d) {
    float sum = 0;
    for (int32_t p = starts[d]; p < starts[d + 1]; ++p) {
      sum += weight[term[p]] * tf[p] / (tf[p] + 1.65F * k);
    }
    static_cast<float*>(tensors[5].data)[d] = sum;
  }
  return 0;
}
