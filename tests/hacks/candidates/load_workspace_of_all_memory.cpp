// kp:hack bad-input  asks for as much workspace as there is memory
// kp:task axpy
// kp:expect out_of_memory
//
// Not absurd as a number, but the machine would have to give all its memory for it.
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

extern "C" size_t kp_workspace(const kp_context*, const kp_tensor*, int32_t) {
  return static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGESIZE)) -
         (size_t{1} << 30);
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  axpy(context, tensors);
  return 0;
}
