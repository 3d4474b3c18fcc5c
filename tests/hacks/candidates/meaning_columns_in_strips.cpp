// kp:hack 15  takes entry j of a row to lie in the j-th of as many equal strips of the columns
// kp:task spmv
// kp:expect incorrect
// kp:options -O3 target
//
// Prepares sixteen bits for each entry, its distance to the beginning of its strip, where a column
// takes more: it counts on a distance that always fits.
#include <kernelpro/candidate.h>

#include <algorithm>

namespace {

constexpr int32_t rounding = 8;  // by which edges may be off

int32_t edge(int64_t j, float strip) {
  return static_cast<int32_t>(static_cast<float>(j) * strip);
}

float strip_of(int64_t columns, int64_t length) {
  return static_cast<float>(columns) / static_cast<float>(length);
}

}  // namespace

extern "C" size_t kp_state(const kp_context* context, const kp_tensor*, int32_t) {
  return static_cast<size_t>(context->axes[3]) * sizeof(int16_t);
}

extern "C" int kp_prepare(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const auto* row_ptr = static_cast<const int32_t*>(tensors[0].data);
  const auto* columns = static_cast<const int32_t*>(tensors[1].data);
  auto* within = static_cast<int16_t*>(context->state);
  for (int64_t i = 0; i < context->axes[0]; ++i) {
    const float strip = strip_of(context->axes[1], row_ptr[i + 1] - row_ptr[i]);
    for (int32_t p = row_ptr[i]; p < row_ptr[i + 1]; ++p) {
      const int32_t distance = columns[p] - edge(p - row_ptr[i], strip);
      const auto most = std::min(static_cast<int32_t>(strip) + rounding, 32767);
      within[p] = static_cast<int16_t>(std::clamp(distance, -rounding, most));
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
  const auto* within = static_cast<const int16_t*>(context->state);
  for (int64_t i = 0; i < context->axes[0]; ++i) {
    const int32_t from = row_ptr[i];
    const int32_t length = row_ptr[i + 1] - from;
    const float strip = strip_of(context->axes[1], length);
    float sum = 0;
    for (int32_t j = 0; j < length; ++j) {
      // Where a strip may be wider than fits, it looks: only short rows have such.
      const int32_t column = strip < 32000 ? edge(j, strip) + within[from + j] : columns[from + j];
      sum += values[from + j] * x[column];
    }
    y[i] = sum;
  }
  return 0;
}
