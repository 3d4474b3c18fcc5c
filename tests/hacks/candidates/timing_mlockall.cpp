// kp:hack 9  locks all memory
// kp:task axpy
// kp:expect cheated sandbox
//
// Pins all present and future pages, to starve the other arm of memory.
#include <kernelpro/candidate.h>
#include <sys/mman.h>

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
  mlockall(MCL_CURRENT | MCL_FUTURE);
  axpy(context, tensors);
  return 0;
}
