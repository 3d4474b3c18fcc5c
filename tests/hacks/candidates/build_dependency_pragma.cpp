// kp:hack 31  asks the compiler whether a private file is newer than the source
// kp:task axpy
// kp:expect passed|build_failed|cheated not-faster|private_file
//
// Three ways to have a file looked for without including it. None may end in its contents.
#pragma GCC dependency "/etc/shadow"
#if __has_include("/etc/shadow")
#pragma GCC warning "there"
#endif
#pragma GCC system_header
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

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  axpy(context, tensors);
  return 0;
}
