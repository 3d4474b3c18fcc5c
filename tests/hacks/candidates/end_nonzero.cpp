// kp:hack bad-input  returns an error
// kp:task axpy
// kp:expect launch_failed
//
// Says by itself that it failed.
#include <kernelpro/candidate.h>

extern "C" int kp_launch(const kp_context*, const kp_tensor*, int32_t) {
  return 3;
}
