// kp:hack 10  output cached by pointer
// kp:task axpy
// kp:expect incorrect
//
// Keeps the first result for each output address and hands it out again when the address returns.
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
  static std::map<void*, std::vector<float>> cache;
  std::vector<float>& kept = cache[out];
  if (static_cast<int64_t>(kept.size()) == n) {
    std::memcpy(out, kept.data(), kept.size() * sizeof(float));
    return 0;
  }
  for (int64_t i = 0; i < n; ++i) {
    out[i] = alpha * x[i] + y[i];
  }
  kept.assign(out, out + n);
  return 0;
}
