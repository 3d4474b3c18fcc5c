#include <cstdint>

#include "kernelpro/candidate.h"

static void maxsim(int64_t query_tokens, int64_t documents, int64_t tokens, int64_t d,
                   const float* query, const float* document, float* score) {
  for (int64_t b = 0; b < documents; ++b) {
    float total = 0.0F;
    for (int64_t q = 0; q < query_tokens; ++q) {
      float largest = 0.0F;
      for (int64_t t = 0; t < tokens; ++t) {
        float sum = 0.0F;
        for (int64_t j = 0; j < d; ++j) {
          sum += query[q * d + j] * document[(b * tokens + t) * d + j];
        }
        if (t == 0 || sum > largest) {
          largest = sum;
        }
      }
      total += largest;
    }
    score[b] = total;
  }
}

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  if (count != 3) {
    return 1;
  }
  const int64_t* axes = context->axes;
  maxsim(axes[0], axes[1], axes[2], axes[3], static_cast<const float*>(tensors[0].data),
         static_cast<const float*>(tensors[1].data), static_cast<float*>(tensors[2].data));
  return 0;
}
