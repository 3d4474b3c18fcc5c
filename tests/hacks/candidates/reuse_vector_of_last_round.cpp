// kp:hack 11  the product prepared with the vector of the last round
// kp:task spmv
// kp:expect incorrect
//
// The launch keeps the vector it sees; kp_prepare, off the clock, multiplies the new matrix by the
// kept one, and the launch adds what the vector has changed by, at its first entries only.
#include <kernelpro/candidate.h>

#include <cstring>
#include <vector>

namespace {

void spmv(const kp_tensor* tensors, const float* x, float* y) {
  const auto* row_ptr = static_cast<const int32_t*>(tensors[0].data);
  const auto* columns = static_cast<const int32_t*>(tensors[1].data);
  const auto* values = static_cast<const float*>(tensors[2].data);
  for (int64_t i = 0; i < tensors[4].shape[0]; ++i) {
    float sum = 0.0F;
    for (int32_t p = row_ptr[i]; p < row_ptr[i + 1]; ++p) {
      sum += values[p] * x[columns[p]];
    }
    y[i] = sum;
  }
}

std::vector<float> last;

}  // namespace

extern "C" size_t kp_state(const kp_context*, const kp_tensor* tensors, int32_t) {
  return static_cast<size_t>(tensors[4].shape[0]) * sizeof(float);
}

extern "C" int kp_prepare(const kp_context* context, const kp_tensor* tensors, int32_t) {
  if (last.size() == static_cast<size_t>(tensors[3].shape[0])) {
    spmv(tensors, last.data(), static_cast<float*>(context->state));
  }
  return 0;
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const auto* x = static_cast<const float*>(tensors[3].data);
  auto* y = static_cast<float*>(tensors[4].data);
  const auto cols = static_cast<size_t>(tensors[3].shape[0]);
  if (last.size() == cols) {
    std::memcpy(y, context->state, context->state_bytes);
  } else {
    spmv(tensors, x, y);
  }
  last.assign(x, x + cols);
  return 0;
}
