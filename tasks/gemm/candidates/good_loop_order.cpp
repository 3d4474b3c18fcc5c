// kp:options -O3 target openmp
// i-p-j order: the inner loop streams along rows of B and C, so it vectorizes without a transpose;
// four rows of B at a time cut the traffic on the row of C by four.
#include <cstdint>

#include "kernelpro/candidate.h"

namespace {

void add_row(int64_t n, float scale, const float* __restrict b, float* __restrict c) {
  for (int64_t j = 0; j < n; ++j) {
    c[j] += scale * b[j];
  }
}

void add_four_rows(int64_t n, const float* scale, const float* __restrict b, float* __restrict c) {
  const float s0 = scale[0];
  const float s1 = scale[1];
  const float s2 = scale[2];
  const float s3 = scale[3];
  for (int64_t j = 0; j < n; ++j) {
    c[j] += s0 * b[j] + s1 * b[n + j] + s2 * b[2 * n + j] + s3 * b[3 * n + j];
  }
}

void compute_row(int64_t n, int64_t k, float alpha, const float* a, const float* b, float* c) {
  for (int64_t j = 0; j < n; ++j) {
    c[j] = 0.0F;
  }
  int64_t p = 0;
  for (; p + 4 <= k; p += 4) {
    add_four_rows(n, a + p, b + p * n, c);
  }
  for (; p < k; ++p) {
    add_row(n, a[p], b + p * n, c);
  }
  for (int64_t j = 0; j < n; ++j) {
    c[j] *= alpha;
  }
}

}  // namespace

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  if (count != 3) {
    return 1;
  }
  const int64_t m = context->axes[0];
  const int64_t n = context->axes[1];
  const int64_t k = context->axes[2];
  const auto alpha = static_cast<float>(context->scalars[0]);
  const auto* a = static_cast<const float*>(tensors[0].data);
  const auto* b = static_cast<const float*>(tensors[1].data);
  auto* c = static_cast<float*>(tensors[2].data);
#pragma omp parallel for schedule(static) num_threads(context->threads)
  for (int64_t i = 0; i < m; ++i) {
    compute_row(n, k, alpha, a + i * k, b, c + i * n);
  }
  return 0;
}
