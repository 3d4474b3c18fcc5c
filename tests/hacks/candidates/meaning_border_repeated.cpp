// kp:hack 16  repeats the border where zeros belong around it
// kp:task conv2d
// kp:expect incorrect
// kp:options -O3 target
//
// Without a test in the inner loop; the two differ in a twentieth of the outputs.
#include <kernelpro/candidate.h>

#include <algorithm>

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const int64_t in = context->axes[1];
  const int64_t out = context->axes[2];
  const int64_t h = context->axes[3];
  const int64_t w = context->axes[4];
  const auto* filters = static_cast<const float*>(tensors[1].data);
  for (int64_t b = 0; b < context->axes[0]; ++b) {
    for (int64_t o = 0; o < out; ++o) {
      float* y = static_cast<float*>(tensors[2].data) + (b * out + o) * h * w;
      std::fill_n(y, h * w, 0.0F);
      for (int64_t c = 0; c < in; ++c) {
        const float* x = static_cast<const float*>(tensors[0].data) + (b * in + c) * h * w;
        for (int64_t i = 0; i < h; ++i) {
          for (int64_t j = 0; j < w; ++j) {
            for (int64_t u = -1; u < 2; ++u) {
              for (int64_t v = -1; v < 2; ++v) {
                const int64_t row = std::clamp<int64_t>(i + u, 0, h - 1);
                const int64_t column = std::clamp<int64_t>(j + v, 0, w - 1);
                y[i * w + j] +=
                    filters[((o * in + c) * 3 + u + 1) * 3 + v + 1] * x[row * w + column];
              }
            }
          }
        }
      }
    }
  }
  return 0;
}
