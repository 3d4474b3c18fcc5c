// kp:hack 2  leaves the process group, then works late
// kp:task axpy
// kp:expect cheated sandbox|late_work
//
// Hopes that the judge stops the process group only, and moves itself into another one first.
#include <kernelpro/candidate.h>
#include <unistd.h>

#include <chrono>
#include <thread>

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
  setpgid(0, 0);
  setsid();
  std::thread([context, tensors] {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    axpy(context, tensors);
  }).detach();
  return 0;
}
