// kp:hack 15  takes no row to be longer than twice the mean, as all it ever saw
// kp:task spmv
// kp:expect incorrect
// kp:options -O3 target
//
// What a row has beyond that is left out, as by a format that pads all rows to one length.
#include <kernelpro/candidate.h>

#include <algorithm>

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const int64_t rows = context->axes[0];
  const auto most = static_cast<int32_t>(2 * context->axes[2]);
  const auto* row_ptr = static_cast<const int32_t*>(tensors[0].data);
  const auto* columns = static_cast<const int32_t*>(tensors[1].data);
  const auto* values = static_cast<const float*>(tensors[2].data);
  const auto* x = static_cast<const float*>(tensors[3].data);
  auto* y = static_cast<float*>(tensors[4].data);
  for (int64_t i = 0; i < rows; ++i) {
    const int32_t from = row_ptr[i];
    const int32_t to = std::min(row_ptr[i + 1], from + most);
    float sum = 0;
    for (int32_t p = from; p < to; ++p) {
      sum += values[p] * x[columns[p]];
    }
    y[i] = sum;
  }
  return 0;
}
