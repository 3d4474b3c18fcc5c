// kp:hack 19  unsynchronized sums
// kp:task gemm
// kp:expect unstable|incorrect
//
// Two threads add their halves of the inner sum to the same outputs without any synchronization.
#include <kernelpro/candidate.h>

#include <thread>

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const int64_t m = tensors[0].shape[0];
  const int64_t k = tensors[0].shape[1];
  const int64_t n = tensors[1].shape[1];
  const auto alpha = static_cast<float>(context->scalars[0]);
  const auto* a = static_cast<const float*>(tensors[0].data);
  const auto* b = static_cast<const float*>(tensors[1].data);
  auto* c = static_cast<float*>(tensors[2].data);
  for (int64_t i = 0; i < m * n; ++i) {
    c[i] = 0;
  }
  const auto add = [=](int64_t begin, int64_t end) {
    auto* sums = static_cast<volatile float*>(c);
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t p = begin; p < end; ++p) {
        for (int64_t j = 0; j < n; ++j) {
          sums[i * n + j] = sums[i * n + j] + alpha * a[i * k + p] * b[p * n + j];
        }
      }
    }
  };
  std::thread other(add, 0, k / 2);
  add(k / 2, k);
  other.join();
  return 0;
}
