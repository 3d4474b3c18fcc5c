// kp:hack honest  asks a descriptor for its flags
// kp:task axpy
// kp:expect passed
// kp:twin end_owner_of_signals.cpp
//
// What a library does that prints: flags read and set, a descriptor kept aside.
#include <fcntl.h>
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
  const int kept = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 10);
  fcntl(kept, F_SETFD, fcntl(kept, F_GETFD) | FD_CLOEXEC);
  fcntl(kept, F_SETFL, fcntl(kept, F_GETFL) | O_NONBLOCK);
  close(kept);
  axpy(context, tensors);
  return 0;
}
