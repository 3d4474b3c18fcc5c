// The neighbors of every point become a column, so that one sgemm for each image does the sums.
// The columns are shared among the threads, sgemm shares itself.
#include <cblas.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "kernelpro/candidate.h"

namespace {

// One row of the matrix of columns: the image of one channel, moved by (down, right).
void move_image(int64_t h, int64_t w, int64_t down, int64_t right, const float* x, float* moved) {
  const int64_t first = std::min(std::max<int64_t>(-right, 0), w);
  const int64_t last = std::max(first, std::min(w - right, w));
  for (int64_t i = 0; i < h; ++i) {
    float* row = moved + i * w;
    if (i + down < 0 || i + down >= h) {
      std::fill_n(row, w, 0.0F);
      continue;
    }
    std::fill(row, row + first, 0.0F);
    std::copy_n(x + (i + down) * w + first + right, last - first, row + first);
    std::fill(row + last, row + w, 0.0F);
  }
}

}  // namespace

size_t kp_workspace(const kp_context* context, const kp_tensor* /*tensors*/, int32_t /*count*/) {
  const int64_t* axes = context->axes;
  return static_cast<size_t>(9 * axes[1] * axes[3] * axes[4]) * sizeof(float);
}

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  if (count != 3 || context->workspace_bytes < kp_workspace(context, tensors, count)) {
    return 1;
  }
  const int64_t images = context->axes[0];
  const int64_t in = context->axes[1];
  const int64_t out = context->axes[2];
  const int64_t h = context->axes[3];
  const int64_t w = context->axes[4];
  const auto* x = static_cast<const float*>(tensors[0].data);
  const auto* filters = static_cast<const float*>(tensors[1].data);
  auto* y = static_cast<float*>(tensors[2].data);
  auto* columns = static_cast<float*>(context->workspace);
  openblas_set_num_threads(context->threads);
  for (int64_t b = 0; b < images; ++b) {
#pragma omp parallel for schedule(static) num_threads(context->threads)
    for (int64_t row = 0; row < 9 * in; ++row) {
      move_image(h, w, row % 9 / 3 - 1, row % 3 - 1, x + (b * in + row / 9) * h * w,
                 columns + row * h * w);
    }
    const auto points = static_cast<blasint>(h * w);
    const auto inner = static_cast<blasint>(9 * in);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, static_cast<blasint>(out), points, inner,
                1.0F, filters, inner, columns, points, 0.0F, y + b * out * h * w, points);
  }
  return 0;
}

const char* kp_implementation(void) {
  static const std::string name =
      std::string(openblas_get_config()) + ", core " + openblas_get_corename();
  return name.c_str();
}
