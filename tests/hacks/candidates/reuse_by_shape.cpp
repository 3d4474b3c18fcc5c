// kp:hack 10  output cached by shape
// kp:task axpy
// kp:expect incorrect
//
// Computes each size once and copies that result for every later call of the size.
#include <kernelpro/candidate.h>

#include <cstring>
#include <map>
#include <vector>

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const auto alpha = static_cast<float>(context->scalars[0]);
  const auto* x = static_cast<const float*>(tensors[0].data);
  const auto* y = static_cast<const float*>(tensors[1].data);
  auto* out = static_cast<float*>(tensors[2].data);
  const int64_t n = context->axes[0];
  static std::map<int64_t, std::vector<float>> cache;
  std::vector<float>& kept = cache[n];
  if (kept.empty()) {
    for (int64_t i = 0; i < n; ++i) {
      kept.push_back(alpha * x[i] + y[i]);
    }
  }
  std::memcpy(out, kept.data(), kept.size() * sizeof(float));
  return 0;
}
