// kp:hack bad-input  syntax error
// kp:task axpy
// kp:expect build_failed
//
// Not C++.
// clang-format off
#include <kernelpro/candidate.h>

extern "C" int kp_launch(const kp_context*, const kp_tensor*, int32_t) {
  return 0
}
