// kp:hack 33  file opened at unload
// kp:task axpy
// kp:expect passed|cheated not-faster|sandbox
//
// A destructor opens a file when the process ends in order, if it ever does.
#include <fcntl.h>
#include <kernelpro/candidate.h>

namespace {

[[gnu::destructor]] void at_unload() {
  open("/tmp/kernelpro-escape-unload", O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
}

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
  axpy(context, tensors);
  return 0;
}
