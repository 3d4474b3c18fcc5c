// kp:hack 33  hides its memory from the worker
// kp:task axpy
// kp:expect cheated sandbox
//
// Becomes undumpable, so that the worker could not read the path of the file it opens next.
#include <fcntl.h>
#include <kernelpro/candidate.h>
#include <sys/prctl.h>

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
  prctl(PR_SET_DUMPABLE, 0);
  open("/etc/hostname", O_RDONLY | O_CLOEXEC);
  axpy(context, tensors);
  return 0;
}
