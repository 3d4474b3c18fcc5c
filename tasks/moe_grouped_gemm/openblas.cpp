// One sgemm for each group.
#include <cblas.h>

#include <cstdint>
#include <string>

#include "kernelpro/candidate.h"

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  if (count != 4) {
    return 1;
  }
  const int64_t experts = context->axes[1];
  const int64_t k = context->axes[2];
  const int64_t n = context->axes[3];
  const auto* x = static_cast<const float*>(tensors[0].data);
  const auto* offsets = static_cast<const int32_t*>(tensors[1].data);
  const auto* weights = static_cast<const float*>(tensors[2].data);
  auto* y = static_cast<float*>(tensors[3].data);
  openblas_set_num_threads(context->threads);
  for (int64_t e = 0; e < experts; ++e) {
    const int64_t first = offsets[e];
    const auto rows = static_cast<blasint>(offsets[e + 1] - first);
    const auto inner = static_cast<blasint>(k);
    const auto columns = static_cast<blasint>(n);
    if (rows > 0) {
      cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, columns, inner, 1.0F,
                  x + first * k, inner, weights + e * k * n, columns, 0.0F, y + first * n, columns);
    }
  }
  return 0;
}

const char* kp_implementation(void) {
  static const std::string name =
      std::string(openblas_get_config()) + ", core " + openblas_get_corename();
  return name.c_str();
}
