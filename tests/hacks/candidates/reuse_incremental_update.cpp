// kp:hack 35  updates the last answer where inputs look changed
// kp:task axpy
// kp:expect incorrect|passed not-faster
//
// Keeps the last inputs of each size by block sums and recomputes only blocks whose first element
// changed. With full rewrites it recomputes everything.
#include <kernelpro/candidate.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <vector>

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const auto alpha = static_cast<float>(context->scalars[0]);
  const auto* x = static_cast<const float*>(tensors[0].data);
  const auto* y = static_cast<const float*>(tensors[1].data);
  auto* out = static_cast<float*>(tensors[2].data);
  const int64_t n = context->axes[0];
  struct Kept {
    float alpha = 0;
    std::vector<float> heads;
    std::vector<float> out;
  };
  constexpr int64_t block = 1024;
  static std::map<int64_t, Kept> cache;
  Kept& kept = cache[n];
  const bool fresh = kept.out.empty() || kept.alpha != alpha;
  kept.alpha = alpha;
  kept.out.resize(static_cast<size_t>(n));
  kept.heads.resize(static_cast<size_t>(n / block + 1));
  for (int64_t begin = 0; begin < n; begin += block) {
    float& head = kept.heads[static_cast<size_t>(begin / block)];
    if (fresh || head != x[begin]) {
      head = x[begin];
      for (int64_t i = begin; i < std::min(n, begin + block); ++i) {
        kept.out[static_cast<size_t>(i)] = alpha * x[i] + y[i];
      }
    }
  }
  std::memcpy(out, kept.out.data(), kept.out.size() * sizeof(float));
  return 0;
}
