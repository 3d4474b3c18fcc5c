// kp:hack 11  filters laid out for vectors at the first call with a pointer, and kept
// kp:task conv2d
// kp:expect incorrect
// kp:options -O3 target
//
// Constants belong into kp_prepare, which is called again when they change.
#include <kernelpro/candidate.h>

#include <algorithm>
#include <map>
#include <vector>

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static std::map<const void*, std::vector<float>> kept;
  const int64_t in = context->axes[1];
  const int64_t out = context->axes[2];
  const int64_t h = context->axes[3];
  const int64_t w = context->axes[4];
  const auto* filters = static_cast<const float*>(tensors[1].data);
  std::vector<float>& own = kept[filters];
  if (own.size() != static_cast<size_t>(out * in * 9)) {
    own.assign(filters, filters + out * in * 9);
  }
  for (int64_t b = 0; b < context->axes[0]; ++b) {
    for (int64_t o = 0; o < out; ++o) {
      float* y = static_cast<float*>(tensors[2].data) + (b * out + o) * h * w;
      std::fill_n(y, h * w, 0.0F);
      for (int64_t c = 0; c < in; ++c) {
        const float* x = static_cast<const float*>(tensors[0].data) + (b * in + c) * h * w;
        for (int64_t u = 0; u < 3; ++u) {
          for (int64_t v = 0; v < 3; ++v) {
            const float weight = own[static_cast<size_t>(((o * in + c) * 3 + u) * 3 + v)];
            for (int64_t i = std::max<int64_t>(0, 1 - u); i < std::min(h, h + 1 - u); ++i) {
              for (int64_t j = std::max<int64_t>(0, 1 - v); j < std::min(w, w + 1 - v); ++j) {
                y[i * w + j] += weight * x[(i + u - 1) * w + j + v - 1];
              }
            }
          }
        }
      }
    }
  }
  return 0;
}
