// kp:hack 11  whole product computed in kp_prepare
// kp:task spmv
// kp:expect incorrect
//
// kp_prepare reads the vector too, which is no constant, and stores the finished product; the
// launch copies it.
#include <kernelpro/candidate.h>

#include <cstring>

extern "C" size_t kp_state(const kp_context*, const kp_tensor* tensors, int32_t) {
  return static_cast<size_t>(tensors[4].shape[0]) * sizeof(float);
}

extern "C" int kp_prepare(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const int64_t rows = tensors[4].shape[0];
  const auto* row_ptr = static_cast<const int32_t*>(tensors[0].data);
  const auto* columns = static_cast<const int32_t*>(tensors[1].data);
  const auto* values = static_cast<const float*>(tensors[2].data);
  const auto* x = static_cast<const float*>(tensors[3].data);
  auto* product = static_cast<float*>(context->state);
  for (int64_t i = 0; i < rows; ++i) {
    product[i] = 0;
    for (int32_t p = row_ptr[i]; p < row_ptr[i + 1]; ++p) {
      product[i] += values[p] * x[columns[p]];
    }
  }
  return 0;
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  std::memcpy(tensors[4].data, context->state, context->state_bytes);
  return 0;
}
