#include <cstdint>

#include "kernelpro/candidate.h"

static void sparse_scores(int64_t documents, float k, const int32_t* starts, const int32_t* term,
                          const float* tf, const float* norm, const float* weight, float* score) {
  for (int64_t d = 0; d < documents; ++d) {
    const float half = k * norm[d];  // the count with half of the full effect
    float sum = 0.0F;
    for (int32_t p = starts[d]; p < starts[d + 1]; ++p) {
      sum += weight[term[p]] * tf[p] / (tf[p] + half);
    }
    score[d] = sum;
  }
}

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  if (count != 6) {
    return 1;
  }
  sparse_scores(
      context->axes[0], static_cast<float>(context->scalars[0]),
      static_cast<const int32_t*>(tensors[0].data), static_cast<const int32_t*>(tensors[1].data),
      static_cast<const float*>(tensors[2].data), static_cast<const float*>(tensors[3].data),
      static_cast<const float*>(tensors[4].data), static_cast<float*>(tensors[5].data));
  return 0;
}
