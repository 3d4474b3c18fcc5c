// kp:hack 7  a thread works on the calls that come later in the round
// kp:task gemm
// kp:expect passed|cheated not-faster|ahead
//
// Reads the order of the round in the runner's memory. While the first calls are answered, a second
// thread computes the last ones into their own outputs; those calls then return at once. A call by
// itself takes as long as before: only the mean of a round is shorter. Sets that are never called
// stay untouched.
#include "rest_of_the_round.hpp"

namespace {

void compute(const kp_context* context, const kp_tensor* tensors) {
  const int64_t m = context->axes[0];
  const int64_t n = context->axes[1];
  const int64_t k = context->axes[2];
  const auto alpha = static_cast<float>(context->scalars[0]);
  const auto* a = static_cast<const float*>(tensors[0].data);
  const auto* b = static_cast<const float*>(tensors[1].data);
  auto* c = static_cast<float*>(tensors[2].data);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      float sum = 0.0F;
      for (int64_t p = 0; p < k; ++p) {
        sum += a[i * k + p] * b[p * n + j];
      }
      c[i * n + j] = alpha * sum;
    }
  }
}

}  // namespace
