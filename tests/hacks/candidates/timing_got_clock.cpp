// kp:hack 3  clock_gettime replaced in every GOT
// kp:task axpy
// kp:expect cheated clock|sandbox
//
// Makes every clock read by the runner advance one nanosecond a reading, so that its own claim is
// next to nothing.
#include <kernelpro/candidate.h>
#include <time.h>
#include <unistd.h>

#include <cstring>

#include "patched_calls.hpp"
#include "plain_axpy.hpp"

namespace {

bool patched = false;

int frozen_clock(clockid_t, timespec* time) {
  static long now = 0;
  time->tv_sec = 1000;
  time->tv_nsec = ++now;
  return 0;
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  if (!patched) {
    patched = true;
    Patch patch{"clock_gettime", reinterpret_cast<void*>(&frozen_clock)};
    dl_iterate_phdr(patch_object, &patch);
  }
  axpy(context, tensors);
  return 0;
}
