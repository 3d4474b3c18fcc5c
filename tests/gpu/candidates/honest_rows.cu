// kp:hack honest  the baseline of the rows
// kp:task rows
// kp:expect passed
// kp:twin meaning_skip_last_row.cu
//
// One block for each row.
#include "rows.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const Call call = call_of(context, tensors);
  return launch(call, call.stream);
}
