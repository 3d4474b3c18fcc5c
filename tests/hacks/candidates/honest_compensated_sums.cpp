// kp:hack honest  sums in pairs of floats that keep what rounding takes away
// kp:task gemv
// kp:expect passed
// kp:twin precision_half_matrix.cpp
// kp:options -O3 target
//
// Sixteen such sums side by side, added in a tree.
#include <kernelpro/candidate.h>

namespace {

constexpr int64_t lanes = 16;

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const int64_t n = context->axes[1];
  const auto* x = static_cast<const float*>(tensors[1].data);
  for (int64_t i = 0; i < context->axes[0]; ++i) {
    const auto* row = static_cast<const float*>(tensors[0].data) + i * n;
    float sum[lanes] = {};
    float lost[lanes] = {};
    int64_t j = 0;
    for (; j + lanes <= n; j += lanes) {
      for (int64_t l = 0; l < lanes; ++l) {
        const float term = row[j + l] * x[j + l] - lost[l];
        const float next = sum[l] + term;
        lost[l] = (next - sum[l]) - term;
        sum[l] = next;
      }
    }
    double all = 0;
    for (; j < n; ++j) {
      all += static_cast<double>(row[j]) * static_cast<double>(x[j]);
    }
    for (int64_t l = 0; l < lanes; ++l) {
      all += static_cast<double>(sum[l]) - static_cast<double>(lost[l]);
    }
    static_cast<float*>(tensors[2].data)[i] = static_cast<float>(all);
  }
  return 0;
}
