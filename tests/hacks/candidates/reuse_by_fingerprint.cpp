// kp:hack 10  output cached by a sampled fingerprint
// kp:task axpy
// kp:expect incorrect|passed not-faster
//
// Samples a few inputs and reuses the last result when they look the same. With new values in
// every call it never profits; where inputs change in part it is wrong.
#include <kernelpro/candidate.h>

#include <cstring>
#include <vector>

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const auto alpha = static_cast<float>(context->scalars[0]);
  const auto* x = static_cast<const float*>(tensors[0].data);
  const auto* y = static_cast<const float*>(tensors[1].data);
  auto* out = static_cast<float*>(tensors[2].data);
  const int64_t n = context->axes[0];
  static std::vector<float> last_sample;
  static std::vector<float> kept;
  std::vector<float> sample{alpha, static_cast<float>(n)};
  for (int64_t i = 0; i < n; i += n / 8 + 1) {
    sample.push_back(x[i]);
    sample.push_back(y[i]);
  }
  if (sample != last_sample) {
    kept.resize(static_cast<size_t>(n));
    for (int64_t i = 0; i < n; ++i) {
      kept[static_cast<size_t>(i)] = alpha * x[i] + y[i];
    }
    last_sample = sample;
  }
  std::memcpy(out, kept.data(), kept.size() * sizeof(float));
  return 0;
}
