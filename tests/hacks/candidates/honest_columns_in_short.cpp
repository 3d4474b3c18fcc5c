// kp:hack honest  columns as distances of sixteen bits, and as they are where one does not fit
// kp:task spmv
// kp:expect passed
// kp:twin meaning_columns_in_strips.cpp
// kp:options -O3 target
//
// Each entry's distance to the one before; a row with a longer one keeps its columns.
#include <kernelpro/candidate.h>

namespace {

constexpr uint16_t too_far = 0xffff;

}  // namespace

extern "C" size_t kp_state(const kp_context* context, const kp_tensor*, int32_t) {
  return static_cast<size_t>(context->axes[3]) * sizeof(uint16_t);
}

extern "C" int kp_prepare(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const auto* row_ptr = static_cast<const int32_t*>(tensors[0].data);
  const auto* columns = static_cast<const int32_t*>(tensors[1].data);
  auto* steps = static_cast<uint16_t*>(context->state);
  for (int64_t i = 0; i < context->axes[0]; ++i) {
    int32_t before = 0;
    for (int32_t p = row_ptr[i]; p < row_ptr[i + 1]; ++p) {
      const int32_t step = columns[p] - before;
      if (step >= too_far) {
        steps[row_ptr[i]] = too_far;
        break;
      }
      steps[p] = static_cast<uint16_t>(step);
      before = columns[p];
    }
  }
  return 0;
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const auto* row_ptr = static_cast<const int32_t*>(tensors[0].data);
  const auto* columns = static_cast<const int32_t*>(tensors[1].data);
  const auto* values = static_cast<const float*>(tensors[2].data);
  const auto* x = static_cast<const float*>(tensors[3].data);
  auto* y = static_cast<float*>(tensors[4].data);
  const auto* steps = static_cast<const uint16_t*>(context->state);
  for (int64_t i = 0; i < context->axes[0]; ++i) {
    const int32_t from = row_ptr[i];
    const int32_t to = row_ptr[i + 1];
    float sum = 0;
    if (from < to && steps[from] == too_far) {
      for (int32_t p = from; p < to; ++p) {
        sum += values[p] * x[columns[p]];
      }
    } else {
      int32_t column = 0;
      for (int32_t p = from; p < to; ++p) {
        column += steps[p];
        sum += values[p] * x[column];
      }
    }
    y[i] = sum;
  }
  return 0;
}
