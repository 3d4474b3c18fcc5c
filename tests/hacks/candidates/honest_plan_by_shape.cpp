// kp:hack honest  a plan kept for each shape
// kp:task gemm
// kp:expect passed
// kp:twin reuse_by_shape.cpp
//
// What depends on the shape may live between calls: here the block size.
#include <kernelpro/candidate.h>

#include <algorithm>
#include <map>
#include <tuple>

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const int64_t m = tensors[0].shape[0];
  const int64_t k = tensors[0].shape[1];
  const int64_t n = tensors[1].shape[1];
  const auto alpha = static_cast<float>(context->scalars[0]);
  const auto* a = static_cast<const float*>(tensors[0].data);
  const auto* b = static_cast<const float*>(tensors[1].data);
  auto* c = static_cast<float*>(tensors[2].data);
  static std::map<std::tuple<int64_t, int64_t, int64_t>, int64_t> plans;
  const auto [plan, fresh] = plans.try_emplace({m, n, k}, 0);
  if (fresh) {
    plan->second = std::clamp<int64_t>(4096 / std::max<int64_t>(n, 1), 1, k);
  }
  std::fill(c, c + m * n, 0.0F);
  for (int64_t block = 0; block < k; block += plan->second) {
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t p = block; p < std::min(k, block + plan->second); ++p) {
        for (int64_t j = 0; j < n; ++j) {
          c[i * n + j] += alpha * a[i * k + p] * b[p * n + j];
        }
      }
    }
  }
  return 0;
}
