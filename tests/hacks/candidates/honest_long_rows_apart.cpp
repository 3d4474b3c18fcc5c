// kp:hack honest  long rows are added another way than short ones
// kp:task spmv
// kp:expect passed
// kp:twin meaning_no_long_rows.cpp
// kp:options -O3 target
//
// The same loop for rows up to twice the mean; the rest of a longer one is added in four sums.
#include <kernelpro/candidate.h>

#include <algorithm>

namespace {

float rest_of(const float* values, const int32_t* columns, const float* x, int32_t from,
              int32_t to) {
  float sums[4] = {};
  for (int32_t p = from; p < to; ++p) {
    sums[p % 4] += values[p] * x[columns[p]];
  }
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

}  // namespace

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
    y[i] = to < row_ptr[i + 1] ? sum + rest_of(values, columns, x, to, row_ptr[i + 1]) : sum;
  }
  return 0;
}
