// kp:hack bad-input  a state whose size overflows
// kp:task spmv
// kp:expect out_of_memory|launch_failed|crashed
//
// Rounded up to pages, or taken as often as there are sets, these sizes are none or a few bytes.
#include <kernelpro/candidate.h>

extern "C" size_t kp_state(const kp_context*, const kp_tensor*, int32_t) {
  static int questions = 0;
  return ++questions % 2 == 1 ? ~size_t{0} / 3 / 4096 * 4096 + 4096 : ~size_t{0};
}

extern "C" int kp_prepare(const kp_context* context, const kp_tensor*, int32_t) {
  static_cast<char*>(context->state)[context->state_bytes - 1] = 1;
  return 0;
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const auto* row_ptr = static_cast<const int32_t*>(tensors[0].data);
  const auto* columns = static_cast<const int32_t*>(tensors[1].data);
  const auto* values = static_cast<const float*>(tensors[2].data);
  const auto* x = static_cast<const float*>(tensors[3].data);
  auto* y = static_cast<float*>(tensors[4].data);
  for (int64_t i = 0; i < context->axes[0]; ++i) {
    float sum = 0.0F;
    for (int32_t p = row_ptr[i]; p < row_ptr[i + 1]; ++p) {
      sum += values[p] * x[columns[p]];
    }
    y[i] = sum;
  }
  return 0;
}
