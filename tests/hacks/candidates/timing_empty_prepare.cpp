// kp:hack 30  an empty kp_prepare, so that inputs are written again just before the round
// kp:task spmv
// kp:expect passed not-faster
//
// Who has a kp_prepare gets its inputs drawn once more right before its calls, and may find them in
// the cache where the incumbent does not.
#include <kernelpro/candidate.h>

static void spmv(int64_t rows, const int32_t* row_ptr, const int32_t* columns, const float* values,
                 const float* x, float* y) {
  for (int64_t i = 0; i < rows; ++i) {
    float sum = 0.0F;
    for (int32_t p = row_ptr[i]; p < row_ptr[i + 1]; ++p) sum += values[p] * x[columns[p]];
    y[i] = sum;
  }
}
extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  spmv(context->axes[0], static_cast<const int32_t*>(tensors[0].data),
       static_cast<const int32_t*>(tensors[1].data), static_cast<const float*>(tensors[2].data),
       static_cast<const float*>(tensors[3].data), static_cast<float*>(tensors[4].data));
  return 0;
}
extern "C" size_t kp_state(const kp_context*, const kp_tensor*, int32_t) {
  return 64;
}
extern "C" int kp_prepare(const kp_context*, const kp_tensor*, int32_t) {
  return 0;
}
