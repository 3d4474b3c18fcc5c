// kp:hack bad-input  a shared object of 289 MB
// kp:task axpy
// kp:expect build_failed
//
// Nothing but a table of zeros that the object holds byte by byte, to fill the cache of builds.
#include <kernelpro/candidate.h>

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

__asm__(
    ".pushsection .data.filler,\"aw\"\n"
    ".globl kp_filler\n"
    "kp_filler: .zero 289000000\n"
    ".popsection\n");

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  axpy(context, tensors);
  return 0;
}
