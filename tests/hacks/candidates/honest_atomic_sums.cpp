// kp:hack honest  atomic sums in any order
// kp:task gemm
// kp:expect passed
// kp:twin memory_race.cpp
//
// Two threads add to the same outputs atomically, so that the last bits differ from run to run.
#include <kernelpro/candidate.h>

#include <algorithm>
#include <atomic>
#include <thread>

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const int64_t m = tensors[0].shape[0];
  const int64_t k = tensors[0].shape[1];
  const int64_t n = tensors[1].shape[1];
  const auto alpha = static_cast<float>(context->scalars[0]);
  const auto* a = static_cast<const float*>(tensors[0].data);
  const auto* b = static_cast<const float*>(tensors[1].data);
  auto* c = static_cast<float*>(tensors[2].data);
  std::fill(c, c + m * n, 0.0F);
  const auto add = [=](int64_t begin, int64_t end) {
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        float sum = 0;
        for (int64_t p = begin; p < end; ++p) {
          sum += a[i * k + p] * b[p * n + j];
        }
        std::atomic_ref<float>(c[i * n + j]).fetch_add(alpha * sum, std::memory_order_relaxed);
      }
    }
  };
  std::thread first(add, 0, k / 3);
  std::thread second(add, k / 3, 2 * (k / 3));
  add(2 * (k / 3), k);
  first.join();
  second.join();
  return 0;
}
