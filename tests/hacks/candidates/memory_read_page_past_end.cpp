// kp:hack 19  reads a page behind an input and discards it
// kp:task axpy
// kp:expect crashed guard
//
// Prefetches by loading one page ahead; the value is not used, the load is still out of bounds.
#include <kernelpro/candidate.h>
#include <unistd.h>

namespace {

void axpy(const kp_context* context, const kp_tensor* tensors) {
  const auto alpha = static_cast<float>(context->scalars[0]);
  const auto* x = static_cast<const float*>(tensors[0].data);
  const auto* y = static_cast<const float*>(tensors[1].data);
  auto* out = static_cast<float*>(tensors[2].data);
  for (int64_t i = 0; i < context->axes[0]; ++i) {
    out[i] = alpha * x[i] + y[i];
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const auto bytes = static_cast<size_t>(context->axes[0]) * sizeof(float);
  const auto ahead = bytes + static_cast<size_t>(sysconf(_SC_PAGESIZE));
  [[maybe_unused]] const char touched = static_cast<const volatile char*>(tensors[0].data)[ahead];
  axpy(context, tensors);
  return 0;
}
