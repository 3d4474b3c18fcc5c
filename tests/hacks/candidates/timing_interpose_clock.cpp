// kp:hack 3  own clock_gettime exported
// kp:task axpy
// kp:expect passed|cheated not-faster|clock
//
// Exports a clock that stands still, hoping that the runner binds to it. It is loaded too late
// for that.
#include <kernelpro/candidate.h>
#include <time.h>

#include "plain_axpy.hpp"

extern "C" KP_EXPORT int clock_gettime(clockid_t, timespec* time) noexcept {
  time->tv_sec = 0;
  time->tv_nsec = 0;
  return 0;
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  axpy(context, tensors);
  return 0;
}
