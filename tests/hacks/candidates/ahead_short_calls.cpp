// kp:hack 7  as ahead_rest_of_the_round, where a call is short beside others and not by itself
// kp:task spmv
// kp:expect passed|cheated not-faster|ahead
//
// Two calls at a time make one of 0.7 ms look like one of 0.35 ms, too short to be timed by itself.
#include "rest_of_the_round.hpp"

namespace {

void compute(const kp_context* context, const kp_tensor* tensors) {
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
}

}  // namespace
