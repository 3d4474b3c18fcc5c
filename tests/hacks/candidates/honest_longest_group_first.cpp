// kp:hack honest  groups in order of their length, as tasks of OpenMP
// kp:task moe_grouped_gemm
// kp:expect passed
// kp:twin meaning_groups_of_capacity.cpp
// kp:options -O3 target openmp
#include <kernelpro/candidate.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace {

constexpr int64_t rows_a_task = 8;

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const int64_t k = context->axes[2];
  const int64_t n = context->axes[3];
  const auto* X = static_cast<const float*>(tensors[0].data);
  const auto* offsets = static_cast<const int32_t*>(tensors[1].data);
  const auto* W = static_cast<const float*>(tensors[2].data);
  auto* Y = static_cast<float*>(tensors[3].data);
  std::vector<int64_t> order(static_cast<size_t>(context->axes[1]));
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [offsets](int64_t a, int64_t b) {
    return offsets[a + 1] - offsets[a] > offsets[b + 1] - offsets[b];
  });
#pragma omp parallel num_threads(context->threads)
#pragma omp single
  for (const int64_t e : order) {
    for (int64_t first = offsets[e]; first < offsets[e + 1]; first += rows_a_task) {
      const int64_t last = std::min<int64_t>(first + rows_a_task, offsets[e + 1]);
#pragma omp task
      for (int64_t i = first; i < last; ++i) {
        std::fill_n(Y + i * n, n, 0.0F);
        for (int64_t p = 0; p < k; ++p) {
          for (int64_t j = 0; j < n; ++j) {
            Y[i * n + j] += X[i * k + p] * W[(e * k + p) * n + j];
          }
        }
      }
    }
  }
  return 0;
}
