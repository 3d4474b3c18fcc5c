#include <cstdint>

#include "kernelpro/candidate.h"

static void spmv(int64_t rows, const int32_t* row_ptr, const int32_t* columns, const float* values,
                 const float* x, float* y) {
  for (int64_t i = 0; i < rows; ++i) {
    float sum = 0.0F;
    for (int32_t p = row_ptr[i]; p < row_ptr[i + 1]; ++p) {
      sum += values[p] * x[columns[p]];
    }
    y[i] = sum;
  }
}

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  if (count != 5) {
    return 1;
  }
  spmv(context->axes[0], static_cast<const int32_t*>(tensors[0].data),
       static_cast<const int32_t*>(tensors[1].data), static_cast<const float*>(tensors[2].data),
       static_cast<const float*>(tensors[3].data), static_cast<float*>(tensors[4].data));
  return 0;
}
