// kp:hack bad-input  unresolved symbol
// kp:task axpy
// kp:expect launch_failed|build_failed
//
// Calls a function that is nowhere.
#include <kernelpro/candidate.h>

extern "C" int kp_function_that_nobody_has(void);

extern "C" int kp_launch(const kp_context*, const kp_tensor*, int32_t) {
  return kp_function_that_nobody_has();
}
