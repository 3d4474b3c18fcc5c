// kp:hack 21  NaN in every output
// kp:task axpy
// kp:expect incorrect
//
// Hopes that a comparison with NaN is never "too large".
#include <kernelpro/candidate.h>

#include <algorithm>
#include <limits>

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  auto* out = static_cast<float*>(tensors[2].data);
  std::fill(out, out + context->axes[0], std::numeric_limits<float>::quiet_NaN());
  return 0;
}
