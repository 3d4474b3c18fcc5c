#include <cstdint>

#include "kernelpro/candidate.h"

static void conv2d(int64_t images, int64_t in, int64_t out, int64_t h, int64_t w, const float* x,
                   const float* filters, float* y) {
  for (int64_t b = 0; b < images; ++b) {
    for (int64_t o = 0; o < out; ++o) {
      for (int64_t i = 0; i < h; ++i) {
        for (int64_t j = 0; j < w; ++j) {
          float sum = 0.0F;
          for (int64_t c = 0; c < in; ++c) {
            for (int64_t u = 0; u < 3; ++u) {
              for (int64_t v = 0; v < 3; ++v) {
                const int64_t row = i + u - 1;
                const int64_t column = j + v - 1;
                if (row >= 0 && row < h && column >= 0 && column < w) {
                  sum += filters[((o * in + c) * 3 + u) * 3 + v] *
                         x[((b * in + c) * h + row) * w + column];
                }
              }
            }
          }
          y[((b * out + o) * h + i) * w + j] = sum;
        }
      }
    }
  }
}

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  if (count != 3) {
    return 1;
  }
  const int64_t* axes = context->axes;
  conv2d(axes[0], axes[1], axes[2], axes[3], axes[4], static_cast<const float*>(tensors[0].data),
         static_cast<const float*>(tensors[1].data), static_cast<float*>(tensors[2].data));
  return 0;
}
