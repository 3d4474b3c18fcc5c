// kp:hack bad-input  kp_prepare fails
// kp:task spmv
// kp:expect launch_failed status
//
// Says that it could not prepare.
#include <kernelpro/candidate.h>

extern "C" size_t kp_state(const kp_context*, const kp_tensor*, int32_t) {
  return 64;
}

extern "C" int kp_prepare(const kp_context*, const kp_tensor*, int32_t) {
  return 7;
}

extern "C" int kp_launch(const kp_context*, const kp_tensor*, int32_t) {
  return 0;
}
