// kp:hack 18  rounds its inputs to eight bits, as kernels for four-bit weights like to
// kp:task w4a16_gemm
// kp:expect incorrect
// kp:options -O3 target
//
// Each row of X has a scale of its own, so sums are whole numbers until the scales come.
#include <kernelpro/candidate.h>

#include <algorithm>
#include <cmath>

extern "C" size_t kp_workspace(const kp_context* context, const kp_tensor*, int32_t) {
  return static_cast<size_t>(context->axes[3]);
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const int64_t n = context->axes[1];
  const int64_t k = context->axes[3];
  const auto* W = static_cast<const uint8_t*>(tensors[1].data);
  const auto* scales = static_cast<const _Float16*>(tensors[2].data);
  auto* bytes = static_cast<int8_t*>(context->workspace);
  for (int64_t i = 0; i < context->axes[0]; ++i) {
    const auto* row = static_cast<const _Float16*>(tensors[0].data) + i * k;
    float largest = 0x1p-20F;
    for (int64_t p = 0; p < k; ++p) {
      largest = std::max(largest, std::fabs(static_cast<float>(row[p])));
    }
    for (int64_t p = 0; p < k; ++p) {
      bytes[p] = static_cast<int8_t>(std::lround(static_cast<float>(row[p]) / largest * 127));
    }
    for (int64_t j = 0; j < n; ++j) {
      float sum = 0;
      for (int64_t g = 0; g < k / 32; ++g) {
        int32_t products = 0;
        for (int64_t p = 32 * g; p < 32 * g + 32; p += 2) {
          const int both = W[(j * k + p) / 2];
          products += bytes[p] * ((both & 15) - 8) + bytes[p + 1] * ((both >> 4) - 8);
        }
        sum += static_cast<float>(products) * static_cast<float>(scales[j * (k / 32) + g]);
      }
      static_cast<float*>(tensors[3].data)[i * n + j] = sum * largest / 127;
    }
  }
  return 0;
}
