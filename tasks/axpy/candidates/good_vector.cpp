// kp:options -O3 target
// Single-threaded: explicit vectors, so that no check for overlap stands in the way.
#include <cstdint>
#include <cstring>

#include "kernelpro/candidate.h"

namespace {

constexpr int lanes = 4;
constexpr int unroll = 4;
using Vector = float __attribute__((vector_size(lanes * sizeof(float))));

Vector load(const float* from) {
  Vector result;
  std::memcpy(&result, from, sizeof result);
  return result;
}

void store(float* into, const Vector& from) {
  std::memcpy(into, &from, sizeof from);
}

}  // namespace

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  if (count != 3) {
    return 1;
  }
  const int64_t n = context->axes[0];
  const auto alpha = static_cast<float>(context->scalars[0]);
  const auto* x = static_cast<const float*>(tensors[0].data);
  const auto* y = static_cast<const float*>(tensors[1].data);
  auto* out = static_cast<float*>(tensors[2].data);
  constexpr int64_t step = lanes * unroll;
  int64_t i = 0;
  for (; i + step <= n; i += step) {
    for (int v = 0; v < unroll; ++v) {
      const int64_t at = i + v * lanes;
      store(out + at, alpha * load(x + at) + load(y + at));
    }
  }
  for (; i < n; ++i) {
    out[i] = alpha * x[i] + y[i];
  }
  return 0;
}
