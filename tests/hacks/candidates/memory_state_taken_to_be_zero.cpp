// kp:hack 19  prepared state taken to be zero
// kp:task spmv
// kp:expect crashed|incorrect
//
// A copy of the constant values is added to what the state holds before it is prepared.
#include <kernelpro/candidate.h>

extern "C" size_t kp_state(const kp_context*, const kp_tensor* tensors, int32_t) {
  return static_cast<size_t>(tensors[2].shape[0]) * sizeof(float);
}

extern "C" int kp_prepare(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const auto* values = static_cast<const float*>(tensors[2].data);
  auto* kept = static_cast<float*>(context->state);
  for (int64_t p = 0; p < tensors[2].shape[0]; ++p) {
    kept[p] = kept[p] == values[p] ? values[p] : kept[p] + values[p];
  }
  return 0;
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const auto* row_ptr = static_cast<const int32_t*>(tensors[0].data);
  const auto* columns = static_cast<const int32_t*>(tensors[1].data);
  const auto* x = static_cast<const float*>(tensors[3].data);
  auto* y = static_cast<float*>(tensors[4].data);
  const auto* kept = static_cast<const float*>(context->state);
  for (int64_t i = 0; i < tensors[4].shape[0]; ++i) {
    float sum = 0;
    for (int32_t p = row_ptr[i]; p < row_ptr[i + 1]; ++p) {
      sum += kept[p] * x[columns[p]];
    }
    y[i] = sum;
  }
  return 0;
}
