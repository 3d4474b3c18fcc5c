// |p - c|^2 = |p|^2 - 2 p.c + |c|^2, and |p|^2 is the same for all centroids: sgemm gives the
// products of a block of points, which then stay in cache for the search. Each thread has blocks of
// its own and calls a single-threaded sgemm. The first centroid is taken from everything before, so
// that an offset which all coordinates share costs no accuracy.
#include <cblas.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "kernelpro/candidate.h"

namespace {

constexpr int64_t block = 256;

// The rows of `from` less that of `origin`.
void move(int64_t n, int64_t d, const float* from, const float* origin, float* to) {
  for (int64_t i = 0; i < n * d; i += d) {
    for (int64_t j = 0; j < d; ++j) {
      to[i + j] = from[i + j] - origin[j];
    }
  }
}

void assign_block(int64_t n, int64_t k, int64_t d, const float* points, const float* centroids,
                  const float* norms, float* scores, int32_t* labels) {
  for (int64_t i = 0; i < n; ++i) {
    std::copy_n(norms, k, scores + i * k);
  }
  const auto inner = static_cast<blasint>(d);
  const auto columns = static_cast<blasint>(k);
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, static_cast<blasint>(n), columns, inner,
              -2.0F, points, inner, centroids, inner, 1.0F, scores, columns);
  for (int64_t i = 0; i < n; ++i) {
    const float* row = scores + i * k;
    labels[i] = static_cast<int32_t>(std::min_element(row, row + k) - row);
  }
}

}  // namespace

size_t kp_workspace(const kp_context* context, const kp_tensor* /*tensors*/, int32_t /*count*/) {
  const int64_t k = context->axes[1];
  const int64_t d = context->axes[2];
  return static_cast<size_t>(k + k * d + context->threads * block * (k + d)) * sizeof(float);
}

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  if (count != 3 || context->workspace_bytes < kp_workspace(context, tensors, count)) {
    return 1;
  }
  const int64_t n = context->axes[0];
  const int64_t k = context->axes[1];
  const int64_t d = context->axes[2];
  const int64_t threads = context->threads;
  const auto* points = static_cast<const float*>(tensors[0].data);
  const auto* centroids = static_cast<const float*>(tensors[1].data);
  auto* labels = static_cast<int32_t*>(tensors[2].data);
  auto* norms = static_cast<float*>(context->workspace);
  float* moved = norms + k;
  openblas_set_num_threads(1);
  move(k, d, centroids, centroids, moved);
  for (int64_t c = 0; c < k; ++c) {
    const float* centroid = moved + c * d;
    norms[c] = cblas_sdot(static_cast<blasint>(d), centroid, 1, centroid, 1);
  }
#pragma omp parallel for schedule(static, 1) num_threads(context->threads)
  for (int64_t t = 0; t < threads; ++t) {
    float* scores = moved + k * d + t * block * (k + d);
    float* own = scores + block * k;
    for (int64_t i = t * block; i < n; i += threads * block) {
      const int64_t count = std::min(block, n - i);
      move(count, d, points + i * d, centroids, own);
      assign_block(count, k, d, own, moved, norms, scores, labels + i);
    }
  }
  return 0;
}

const char* kp_implementation(void) {
  static const std::string name =
      std::string(openblas_get_config()) + ", core " + openblas_get_corename();
  return name.c_str();
}
