// kp:hack bad-input  no kp_launch
// kp:task axpy
// kp:expect launch_failed
//
// Exports something else.
#include <kernelpro/candidate.h>

extern "C" KP_EXPORT int kp_start(const kp_context*, const kp_tensor*, int32_t) {
  return 0;
}
