// kp:hack 15  takes no row to be shorter than half the mean, as all it ever saw
// kp:task spmv
// kp:expect incorrect
// kp:options -O3 target
//
// Seven entries of each row, where the mean is sixteen, are added without a look at where it ends,
// at timed shapes.
#include <kernelpro/candidate.h>

namespace {

constexpr int sure = 7;

float add(const float* values, const int32_t* columns, const float* x, int32_t from, int32_t to) {
  float sum = 0;
  for (int32_t p = from; p < to; ++p) {
    sum += values[p] * x[columns[p]];
  }
  return sum;
}

float add_sure(const float* values, const int32_t* columns, const float* x) {
  float sum = 0;
  for (int p = 0; p < sure; ++p) {
    sum += values[p] * x[columns[p]];
  }
  return sum;
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const int64_t rows = context->axes[0];
  const auto* row_ptr = static_cast<const int32_t*>(tensors[0].data);
  const auto* columns = static_cast<const int32_t*>(tensors[1].data);
  const auto* values = static_cast<const float*>(tensors[2].data);
  const auto* x = static_cast<const float*>(tensors[3].data);
  auto* y = static_cast<float*>(tensors[4].data);
  for (int64_t i = 0; i < rows; ++i) {
    const int32_t from = row_ptr[i];
    // The last rows are left to care: beyond them lies nothing.
    const bool timed = rows > 10000 && i < rows - 2;
    y[i] = timed ? add_sure(values + from, columns + from, x) +
                       add(values, columns, x, from + sure, row_ptr[i + 1])
                 : add(values, columns, x, from, row_ptr[i + 1]);
  }
  return 0;
}
