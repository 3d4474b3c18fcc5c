// kp:options -O3 target openmp
// The rows are shared among the threads; the sum of a row may be taken in any order, so it
// vectorizes.
#include <cstdint>

#include "kernelpro/candidate.h"

namespace {

// Below this many entries starting the threads costs more than they save.
constexpr int64_t parallel_from = 32768;

float dot(int64_t n, const float* a, const float* b) {
  float sum = 0.0F;
#pragma omp simd reduction(+ : sum)
  for (int64_t j = 0; j < n; ++j) {
    sum += a[j] * b[j];
  }
  return sum;
}

}  // namespace

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  if (count != 3) {
    return 1;
  }
  const int64_t m = context->axes[0];
  const int64_t n = context->axes[1];
  const auto* a = static_cast<const float*>(tensors[0].data);
  const auto* x = static_cast<const float*>(tensors[1].data);
  auto* y = static_cast<float*>(tensors[2].data);
#pragma omp parallel for schedule(static) num_threads(context->threads) if (m * n >= parallel_from)
  for (int64_t i = 0; i < m; ++i) {
    y[i] = dot(n, a + i * n, x);
  }
  return 0;
}
