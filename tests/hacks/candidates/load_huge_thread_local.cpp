// kp:hack bad-input  gigabytes of memory for each thread
// kp:task axpy
// kp:expect launch_failed|crashed|out_of_memory load|signal
//
// Memory of this kind is laid out when the object is loaded, and set up by the runner's own thread.
#include <kernelpro/candidate.h>

namespace {

__attribute__((tls_model("initial-exec"))) thread_local volatile char own[size_t{1} << 32];

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  for (size_t at = 0; at < sizeof own; at += 4096) {
    own[at] = 1;
  }
  const auto alpha = static_cast<float>(context->scalars[0]);
  const auto* x = static_cast<const float*>(tensors[0].data);
  const auto* y = static_cast<const float*>(tensors[1].data);
  auto* out = static_cast<float*>(tensors[2].data);
  for (int64_t i = 0; i < context->axes[0]; ++i) {
    out[i] = alpha * x[i] + y[i];
  }
  return 0;
}
