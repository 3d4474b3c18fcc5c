// kp:hack 15  takes every row to be equally long
// kp:task spmv
// kp:expect incorrect
//
// Reads the mean row length from the axes and never the row pointers.
#include <kernelpro/candidate.h>

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const int64_t rows = tensors[4].shape[0];
  const auto* columns = static_cast<const int32_t*>(tensors[1].data);
  const auto* values = static_cast<const float*>(tensors[2].data);
  const auto* x = static_cast<const float*>(tensors[3].data);
  auto* y = static_cast<float*>(tensors[4].data);
  const int64_t per_row = context->axes[2];
  for (int64_t i = 0; i < rows; ++i) {
    float sum = 0;
    for (int64_t p = i * per_row; p < (i + 1) * per_row; ++p) {
      sum += values[p] * x[columns[p]];
    }
    y[i] = sum;
  }
  return 0;
}
