// kp:hack 3  the runner's clock answers by a return address that is changed on the stack
// kp:task axpy
// kp:expect passed|cheated not-faster|clock
//
// The caller's frames are searched for the start of the clock, a number of nanoseconds of a moment
// ago, and it is moved forward: the claim becomes shorter, and no code is changed.
#include <time.h>

#include "plain_axpy.hpp"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  axpy(context, tensors);
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const int64_t now_ns = now.tv_sec * 1000000000LL + now.tv_nsec;
  auto* words = static_cast<int64_t*>(__builtin_frame_address(0));
  for (int i = 0; i < 256; ++i) {
    if (words[i] < now_ns && words[i] > now_ns - 500000000LL) {
      words[i] += (now_ns - words[i]) / 2;
    }
  }
  return 0;
}
