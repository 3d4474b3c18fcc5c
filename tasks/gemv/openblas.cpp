#include <cblas.h>

#include <string>

#include "kernelpro/candidate.h"

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  if (count != 3) {
    return 1;
  }
  const auto m = static_cast<blasint>(context->axes[0]);
  const auto n = static_cast<blasint>(context->axes[1]);
  openblas_set_num_threads(context->threads);
  cblas_sgemv(CblasRowMajor, CblasNoTrans, m, n, 1.0F, static_cast<const float*>(tensors[0].data),
              n, static_cast<const float*>(tensors[1].data), 1, 0.0F,
              static_cast<float*>(tensors[2].data), 1);
  return 0;
}

const char* kp_implementation(void) {
  static const std::string name =
      std::string(openblas_get_config()) + ", core " + openblas_get_corename();
  return name.c_str();
}
