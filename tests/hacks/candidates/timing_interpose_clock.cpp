// kp:hack 3  own clock_gettime exported
// kp:task axpy
// kp:expect passed|cheated not-faster|clock
//
// Exports a clock that stands still, hoping that the runner binds to it. It is loaded too late
// for that.
#include <kernelpro/candidate.h>
#include <time.h>

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

extern "C" KP_EXPORT int clock_gettime(clockid_t, timespec* time) noexcept {
  time->tv_sec = 0;
  time->tv_nsec = 0;
  return 0;
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  axpy(context, tensors);
  return 0;
}
