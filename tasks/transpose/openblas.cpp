// OpenBLAS's extension for copying a matrix transposed; it is single-threaded.
#include <cblas.h>

#include <string>

#include "kernelpro/candidate.h"

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  if (count != 2) {
    return 1;
  }
  const auto rows = static_cast<blasint>(context->axes[0]);
  const auto cols = static_cast<blasint>(context->axes[1]);
  cblas_somatcopy(CblasRowMajor, CblasTrans, rows, cols, 1.0F,
                  static_cast<const float*>(tensors[0].data), cols,
                  static_cast<float*>(tensors[1].data), rows);
  return 0;
}

const char* kp_implementation(void) {
  static const std::string name =
      std::string(openblas_get_config()) + ", core " + openblas_get_corename();
  return name.c_str();
}
